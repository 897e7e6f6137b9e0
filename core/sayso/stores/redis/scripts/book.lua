-- The rules that count for a session: session, agent. Answers the version, then the rules that have
-- not expired.
local now = clock()
local found = {version_of(ARGV[1], ARGV[2])}
for _, book in ipairs(ARGV) do
  local rules = redis.call('HGETALL', P .. 'book:' .. book)
  for i = 1, #rules, 2 do
    if rules[i] ~= 'v' then
      local until_ms, rule = string.match(rules[i + 1], '^(%d+) (.*)$')
      if tonumber(until_ms) > now then found[#found + 1] = rule end
    end
  end
end
return found
