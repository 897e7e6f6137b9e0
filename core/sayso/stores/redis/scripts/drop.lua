-- Forget a copy that is on no message: request id, handle.
redis.call('HDEL', P .. 'r:' .. ARGV[1], 'c:' .. ARGV[2], 'm:' .. ARGV[2], 'x:' .. ARGV[2])
redis.call('DEL', P .. 'h:' .. ARGV[2])
return 1
