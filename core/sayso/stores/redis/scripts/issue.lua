-- Bind a handle: request id, handle, copy, the handles on its message ('' when it is alone there).
-- Answers 1, or 0 when there is no such request.
local record = P .. 'r:' .. ARGV[1]
local left = redis.call('PTTL', record)
if left < 0 then return 0 end
redis.call('SET', P .. 'h:' .. ARGV[2], ARGV[1], 'PX', math.max(left, 1))
redis.call('HSET', record, 'c:' .. ARGV[2], ARGV[3])
-- A field of its own, so that a process that does not know of it reads the copy all the same.
if ARGV[4] ~= '' then redis.call('HSET', record, 'm:' .. ARGV[2], ARGV[4]) end
return 1
