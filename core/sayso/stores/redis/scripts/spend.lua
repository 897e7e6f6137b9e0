-- Take what may be had once: session, key, the caller's token. Answers 1 for the first caller.
-- The same token once more means that its answer was lost on the way.
local once = P .. 'once:' .. ARGV[1] .. ':' .. ARGV[2]
if redis.call('SET', once, ARGV[3], 'NX', 'PX', 2 * QUARTER) then return 1 end
return redis.call('GETEX', once, 'PX', 2 * QUARTER) == ARGV[3] and 1 or 0
