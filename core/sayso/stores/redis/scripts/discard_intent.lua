-- Forget a copy that is on no message: request id, handle.
local record, handle = P .. 'r:' .. ARGV[1], ARGV[2]
redis.call('HDEL', record, 'c:' .. handle, 'm:' .. handle, 'n:' .. handle, 'x:' .. handle)
redis.call('DEL', P .. 'h:' .. handle)
return 1
