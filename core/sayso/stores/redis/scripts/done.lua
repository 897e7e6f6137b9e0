-- Jobs are finished: group, receipts. That of one which a desk got by settling is '=' and the id.
for i = 2, #ARGV do
  local given = string.match(ARGV[i], '^=(.*)$')
  if given then
    redis.call('ZREM', P .. 'after', given)
  else
    redis.call('XACK', P .. 'jobs', ARGV[1], ARGV[i])
    redis.call('XDEL', P .. 'jobs', ARGV[i])
  end
end
return #ARGV - 1
