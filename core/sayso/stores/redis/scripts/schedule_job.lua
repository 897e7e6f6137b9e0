-- Let a name be due: queue, name, in how many ms.
local errands, now = P .. 'errands:' .. ARGV[1], clock()
local due = now + ARGV[3]
redis.call('ZADD', errands, due, ARGV[2])
live_until(errands, due + WEEK, now)
return 1
