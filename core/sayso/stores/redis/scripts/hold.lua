-- Take or keep a lease: name, owner, ms. Answers 1 when the owner has it.
local lease = P .. 'lease:' .. ARGV[1]
local holder = redis.call('GET', lease)
if holder and holder ~= ARGV[2] then return 0 end
redis.call('SET', lease, ARGV[2], 'PX', ARGV[3])
return 1
