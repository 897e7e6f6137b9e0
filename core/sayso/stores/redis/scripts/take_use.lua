-- Use an approval, once: request id, the caller's key, until when in ms.
-- Answers 0 when there is no such request, 1 when nothing can be used, or what became of it.
local id, key, over = unpack(ARGV)
local record = P .. 'r:' .. id
local known = redis.call('HMGET', record, 'q', 'e', 'pk')
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
  put('end', id)
  live_until(P .. 'jobs', now + WEEK, now)
end
return redis.call('HMGET', record, 'pk', 'pa', 'po', 'pt', 'pl')
