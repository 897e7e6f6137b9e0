-- Record that an approval was not used: request id.
-- Answers 1, 0 when it was used, or -1 when there is no such request.
local record = P .. 'r:' .. ARGV[1]
local known = redis.call('HMGET', record, 'q', 'pk', 'pl')
if not known[1] then
  be_primary()
  return -1
end
if known[2] then return 0 end
if not known[3] then
  local now = clock()
  redis.call('HSET', record, 'pl', now)
  put('end', ARGV[1])
  live_until(P .. 'jobs', now + WEEK, now)
end
return 1
