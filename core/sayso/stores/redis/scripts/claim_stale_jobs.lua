-- Take jobs over from desks that are gone: group, consumer, ms without a sign of life, limit, ms
-- after which a desk without jobs is forgotten. The outbox and its group are made where they are
-- missing. Answers entries as XREADGROUP does, and after each how many desks had it.
local jobs = P .. 'jobs'
local group, consumer, idle, limit, forget = unpack(ARGV)
local made = redis.pcall('XGROUP', 'CREATE', jobs, group, '0', 'MKSTREAM')
if made.err and not string.find(made.err, 'BUSYGROUP', 1, true) then return made end
local now = clock()
live_until(jobs, now + WEEK, now)
local claimed = redis.call('XAUTOCLAIM', jobs, group, consumer, idle, '0', 'COUNT', limit)
for _, entry in ipairs(redis.call('XINFO', 'CONSUMERS', jobs, group)) do
  local facts = {}
  for i = 1, #entry, 2 do facts[entry[i]] = entry[i + 1] end
  if facts.pending == 0 and facts.idle > tonumber(forget) and facts.name ~= consumer then
    redis.call('XGROUP', 'DELCONSUMER', jobs, group, facts.name)
  end
end
for _, entry in ipairs(claimed[2]) do
  entry[3] = redis.call('XPENDING', jobs, group, entry[1], entry[1], 1)[1][4]
end
return claimed[2]
