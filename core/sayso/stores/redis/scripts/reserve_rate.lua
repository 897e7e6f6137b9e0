-- Take the next moment at which a message breaks no budget: the caller's token, then for each budget
-- its name, how many messages it allows, and in how many ms. Answers in how many ms that moment is.
-- The same token once more means that its answer was lost on the way.
local token = ARGV[1]
local now = clock()
local moment = now
local repeated = nil
for i = 2, #ARGV, 3 do
  local key = P .. 'budget:' .. ARGV[i]
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - ARGV[i + 2])
  repeated = repeated or redis.call('ZSCORE', key, token)
end
if repeated then return math.max(0, repeated - now) end
local later = moment
repeat
  moment = later
  for i = 2, #ARGV, 3 do
    local count, span = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
    local near = redis.call(
      'ZRANGEBYSCORE', P .. 'budget:' .. ARGV[i], '(' .. moment - span, '(' .. moment + span,
      'WITHSCORES'
    )
    local taken = #near / 2
    if taken >= count then later = math.max(later, near[2 * (taken - count + 1)] + span) end
  end
until later == moment
for i = 2, #ARGV, 3 do
  local key = P .. 'budget:' .. ARGV[i]
  redis.call('ZADD', key, moment, token)
  live_until(key, moment + ARGV[i + 2], now)
end
return moment - now
