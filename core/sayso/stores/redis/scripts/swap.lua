-- Change what a session keeps under a name: session, name, '1' if there is a value, that value, '1' if
-- there is to be one, that one, the caller's token, how many names and how many bytes at most.
-- Answers 1, 0 when the value is another one by now, or -1 when there is no room.
-- The same token once more means that its answer was lost on the way.
local session, name, had, before, has, after, token, most, most_bytes = unpack(ARGV)
local state = P .. 'state:' .. session
local known = redis.call('HMGET', state, 'v:' .. name, 't')
local tokens = {}
for one in string.gmatch(known[2] or '', '%S+') do
  if one == token then return 1 end
  tokens[#tokens + 1] = one
end
if known[1] ~= (had == '1' and before) then return 0 end
if has == '1' then
  local names, bytes = 1, #name + #after
  local all = redis.call('HGETALL', state)
  for i = 1, #all, 2 do
    if all[i] ~= 't' and all[i] ~= 'v:' .. name then
      names = names + 1
      bytes = bytes + #all[i] - 2 + #all[i + 1]
    end
  end
  if names > tonumber(most) or bytes > tonumber(most_bytes) then return -1 end
  redis.call('HSET', state, 'v:' .. name, after)
else
  redis.call('HDEL', state, 'v:' .. name)
end
tokens[#tokens + 1] = token
redis.call('HSET', state, 't', table.concat(tokens, ' ', math.max(1, #tokens - 15)))
local now = clock()
live_until(state, now + QUARTER, now)
return 1
