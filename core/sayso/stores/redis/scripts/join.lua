-- A desk is at work for so long: name, ms; and how many requests an agent and a token may have open
-- at once, 0 for as many as come.
local now = clock()
local desks, limits = P .. 'desks', P .. 'limits'
redis.call('HSET', limits, 'agent', ARGV[3], 'token', ARGV[4])
live_until(limits, now + 2 * QUARTER, now)
redis.call('ZREMRANGEBYSCORE', desks, '-inf', now)
redis.call('ZADD', desks, now + ARGV[2], ARGV[1])
live_until(desks, now + ARGV[2], now)
