-- Give back a hold on a request: id, waiter, and '' or the ending if nobody else holds it, with facts
-- for the audit. Answers 1 when the request ended so, now or at the first attempt, or 0.
local id, waiter, ending, facts = unpack(ARGV)
local record = P .. 'r:' .. id
need('HSET', record, 'e', '')
need('DEL', P .. 'key:')
local known = redis.call('HMGET', record, 'q', 'd', 'i', 's', 'a', 'n', 'e', 'k', 'j', 'o', 'tk')
if not known[1] then
  be_primary()
  return 0
end
if known[7] then return known[7] == ending and 1 or 0 end
if redis.call('HDEL', record, 'w:' .. waiter) == 0 or ending == '' then return 0 end
for _, name in ipairs(redis.call('HKEYS', record)) do
  if name == 'w:' then return 0 end
  -- A hold of a process that does not hear is of one that is gone.
  if string.match(name, '^w:') and ring(redis.call('HGET', record, name), 'proof') > 0 then
    return 0
  end
end
local now = clock()
-- What is over has expired: whoever finds it first says so.
if now >= tonumber(known[2]) then return 0 end
audit(known[6], facts, now)
redis.call('HSET', record, 'e', ending, 't', '', 'z', now)
close(id, known[5], known[11])
if known[8] then redis.call('DEL', P .. 'key:' .. known[8]) end
put('end', id)
tell_observers(known[10], ending)
local what = told(ending, version_of(known[4], known[5], known[9]), now)
for inbox in string.gmatch(known[3], '%S+') do ring(inbox, what) end
return 1
