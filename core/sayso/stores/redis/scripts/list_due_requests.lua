-- The requests whose time is over: limit. Answers the time, the ms until the next one or -1, then
-- an id and a request in turn.
local now = clock()
local found = {now, -1}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'due', '-inf', now, 'LIMIT', 0, ARGV[1])) do
  local known = redis.call('HMGET', P .. 'r:' .. id, 'q', 'e')
  if known[1] and not known[2] then
    found[#found + 1] = id
    found[#found + 1] = known[1]
  else
    redis.call('ZREM', P .. 'due', id)
  end
end
local next_one = redis.call(
  'ZRANGEBYSCORE', P .. 'due', '(' .. now, '+inf', 'WITHSCORES', 'LIMIT', 0, 1
)
if next_one[2] then found[2] = next_one[2] - now end
return found
