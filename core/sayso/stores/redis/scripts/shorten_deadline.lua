-- Let a request expire in so many ms unless it does so earlier: id, ms. Answers when it expires in
-- ms, or 0 when there is no such request.
local record = P .. 'r:' .. ARGV[1]
local known = redis.call('HMGET', record, 'd', 'e', 'a', 'tk')
if not known[1] then
  be_primary()
  return 0
end
local deadline = math.min(tonumber(known[1]), clock() + ARGV[2])
for _, set in ipairs({'due', 'open:'}) do need('ZADD', P .. set, '0', '') end
redis.call('HSET', record, 'd', deadline)
if known[2] then return deadline end
for _, set in ipairs({'due', 'open:' .. known[3], 'open:' .. (known[4] or '')}) do
  redis.call('ZADD', P .. set, 'XX', 'LT', deadline, ARGV[1])
end
return deadline
