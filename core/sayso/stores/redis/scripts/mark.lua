-- Note what became of a copy: request id, handle, copy. Answers the ending, 1 while the request is
-- open, 0 when there is none.
local record = P .. 'r:' .. ARGV[1]
local known = redis.call('HMGET', record, 'd', 'e')
if not known[1] then return 0 end
redis.call('HSET', record, 'c:' .. ARGV[2], ARGV[3])
return known[2] or 1
