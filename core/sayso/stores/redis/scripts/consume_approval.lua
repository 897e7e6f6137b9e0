-- Use an approval, once: request id, the caller's key, until when in ms, facts for the audit.
-- Answers 0 when there is no such request, 1 when nothing can be used, or what became of it.
local id, key, over, facts = unpack(ARGV)
local record = P .. 'r:' .. id
local known = redis.call('HMGET', record, 'q', 'e', 'pk', 'n')
if not known[1] then
  be_primary()
  return 0
end
if not known[3] then
  local now = clock()
  if not known[2] or now >= tonumber(over) then return 1 end
  local ending = cjson.decode(known[2])
  if ending.type ~= 'PERMISSION_RESPONSE' or ending.approved ~= true then return 1 end
  redis.call('HSET', record, 'pk', key, 'pa', now)
  tell_use(id, known[2], known[4], facts, now)
end
return redis.call('HMGET', record, 'pk', 'pa', 'po', 'pt')
