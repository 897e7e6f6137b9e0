-- Say that a desk still works on its jobs: group, consumer, receipts.
local mine = {}
for i = 3, #ARGV do
  local owned = redis.call('XPENDING', P .. 'jobs', ARGV[1], ARGV[i], ARGV[i], 1, ARGV[2])
  if owned[1] then mine[#mine + 1] = ARGV[i] end
end
for _, receipt in ipairs(mine) do
  redis.call('XCLAIM', P .. 'jobs', ARGV[1], ARGV[2], 0, receipt, 'JUSTID')
end
return #mine
