-- A desk goes: its unfinished jobs are put into the outbox anew, which wakes the other desks, and
-- the desk is forgotten: group, consumer. Answers 1 while there may be more of them.
local jobs = P .. 'jobs'
local group, consumer = unpack(ARGV, 1, 2)
local left = redis.call('XPENDING', jobs, group, '-', '+', 100, consumer)
for _, pending in ipairs(left) do
  local entry = redis.call('XRANGE', jobs, pending[1], pending[1])[1]
  if entry then redis.call('XADD', jobs, '*', unpack(entry[2])) end
  redis.call('XACK', jobs, group, pending[1])
  redis.call('XDEL', jobs, pending[1])
end
if #left == 100 then return 1 end
redis.call('XGROUP', 'DELCONSUMER', jobs, group, consumer)
return 0
