-- Let a request, and the key that leads to it, be known for so many ms from now at least: id, ms.
local record, now = P .. 'r:' .. ARGV[1], clock()
local key = redis.call('HGET', record, 'k')
live_until(record, now + ARGV[2], now)
if key and redis.call('GET', P .. 'key:' .. key) == ARGV[1] then
  live_until(P .. 'key:' .. key, now + ARGV[2], now)
end
return 1
