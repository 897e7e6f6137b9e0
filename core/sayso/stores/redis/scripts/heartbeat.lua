-- A desk is at work for so long: name, ms; and how many requests an agent and a token may have open
-- at once, 0 for as many as come, or neither, to leave them as they are.
local now = clock()
local desks, limits = P .. 'desks', P .. 'limits'
if ARGV[3] then
  redis.call('HSET', limits, 'agent', ARGV[3], 'token', ARGV[4])
  live_until(limits, now + 2 * QUARTER, now)
end
redis.call('ZREMRANGEBYSCORE', desks, '-inf', now)
redis.call('ZADD', desks, now + ARGV[2], ARGV[1])
live_until(desks, now + ARGV[2], now)
