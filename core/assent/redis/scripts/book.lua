-- What a session remembers: session. Answers the version, then the rules that have not expired.
local now = clock()
local rules = redis.call('HGETALL', P .. 'book:' .. ARGV[1])
local found = {''}
for i = 1, #rules, 2 do
  if rules[i] == 'v' then
    found[1] = rules[i + 1]
  else
    local until_ms, rule = string.match(rules[i + 1], '^(%d+) (.*)$')
    if tonumber(until_ms) > now then found[#found + 1] = rule end
  end
end
return found
