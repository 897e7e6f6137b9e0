-- Look at requests: inbox, ids. For each its ending, 1 while it is open, 0 when there is none.
local seen = {}
for i = 2, #ARGV do
  local record = P .. 'r:' .. ARGV[i]
  local known = redis.call('HMGET', record, 'd', 'e', 'i')
  if not known[1] then
    be_primary()
    seen[i - 1] = 0
  elseif known[2] then
    seen[i - 1] = known[2]
  else
    add_inbox(record, known[3], ARGV[1])
    seen[i - 1] = 1
  end
end
return seen
