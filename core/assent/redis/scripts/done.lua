-- A job is finished: group, receipt.
redis.call('XACK', P .. 'jobs', ARGV[1], ARGV[2])
return redis.call('XDEL', P .. 'jobs', ARGV[2])
