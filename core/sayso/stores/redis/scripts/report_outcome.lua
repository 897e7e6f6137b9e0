-- Record how the call went that ran on an approval: request id, the report, facts for the audit.
-- Answers 0 when there is no such request, 1 when it was not used, or what became of it.
local id, report, facts = unpack(ARGV)
local record = P .. 'r:' .. id
local known = redis.call('HMGET', record, 'q', 'pk', 'po', 'e', 'n')
if not known[1] then
  be_primary()
  return 0
end
if not known[2] then return 1 end
if not known[3] then
  local now = clock()
  redis.call('HSET', record, 'po', report, 'pt', now)
  tell_use(id, known[4], known[5], facts, now)
end
return redis.call('HMGET', record, 'pk', 'pa', 'po', 'pt')
