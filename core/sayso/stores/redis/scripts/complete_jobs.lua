-- Jobs are finished: group, receipts.
for i = 2, #ARGV do
  redis.call('XACK', P .. 'jobs', ARGV[1], ARGV[i])
  redis.call('XDEL', P .. 'jobs', ARGV[i])
end
return #ARGV - 1
