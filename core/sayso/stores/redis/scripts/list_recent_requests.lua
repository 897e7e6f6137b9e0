-- What a session asked people last: its name in keys. Answers each request and its deadline, the newest
-- first, as far as they are known.
local ids = redis.call('ZRANGE', P .. 'asked:' .. ARGV[1], 0, -1)
local found = {}
for i = #ids, 1, -1 do
  local known = redis.call('HMGET', P .. 'r:' .. ids[i], 'q', 'd')
  if known[1] then
    found[#found + 1] = known[1]
    found[#found + 1] = known[2]
  end
end
return found
