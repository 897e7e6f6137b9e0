-- Take what is due: queue, how many at most, and in how many ms it is due again.
-- Answers the ms until the next one or -1, then the names.
local errands, now = P .. 'errands:' .. ARGV[1], clock()
local due = redis.call('ZRANGEBYSCORE', errands, '-inf', now, 'LIMIT', 0, ARGV[2])
for _, name in ipairs(due) do redis.call('ZADD', errands, now + ARGV[3], name) end
local first = redis.call('ZRANGE', errands, 0, 0, 'WITHSCORES')
local left = -1
if first[2] then
  left = math.max(0, first[2] - now)
  live_until(errands, now + WEEK, now)
end
table.insert(due, 1, left)
return due
