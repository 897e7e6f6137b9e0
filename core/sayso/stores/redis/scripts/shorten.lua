-- Let a request expire in so many ms unless it does so earlier: id, ms. Answers when it expires in
-- ms, or 0 when there is no such request.
local record = P .. 'r:' .. ARGV[1]
local known = redis.call('HMGET', record, 'd', 'e')
if not known[1] then
  be_primary()
  return 0
end
local deadline = math.min(tonumber(known[1]), clock() + ARGV[2])
redis.call('HSET', record, 'd', deadline)
if not known[2] then redis.call('ZADD', P .. 'due', 'XX', 'LT', deadline, ARGV[1]) end
return deadline
