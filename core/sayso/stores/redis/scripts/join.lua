-- A desk is at work for so long: name, ms.
local now = clock()
local desks = P .. 'desks'
redis.call('ZREMRANGEBYSCORE', desks, '-inf', now)
redis.call('ZADD', desks, now + ARGV[2], ARGV[1])
live_until(desks, now + ARGV[2], now)
