-- Record that an approval was not used: request id, facts for the audit.
-- Answers 1, 0 when it was used or nothing was approved, or -1 when there is no such request.
local record = P .. 'r:' .. ARGV[1]
local known = redis.call('HMGET', record, 'q', 'pk', 'pl', 'e', 'n')
if not known[1] then
  be_primary()
  return -1
end
if known[2] or not known[4] or cjson.decode(known[4]).approved ~= true then return 0 end
if not known[3] then
  local now = clock()
  redis.call('HSET', record, 'pl', now)
  tell_use(ARGV[1], known[4], known[5], ARGV[2], now)
end
return 1
