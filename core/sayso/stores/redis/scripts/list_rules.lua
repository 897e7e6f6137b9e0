-- All rules that have not expired. Answers the rule, the facts of its request, how often and when
-- last it was used, '' for never, and the request that stored it, '' where that was not kept, in turn.
local now = clock()
redis.call('ZREMRANGEBYSCORE', P .. 'books', '-inf', now)
local found = {}
for _, book in ipairs(redis.call('ZRANGE', P .. 'books', 0, -1)) do
  for _, field in ipairs(redis.call('HKEYS', P .. 'book:' .. book)) do
    local rule_id = string.match(field, '^r:(.*)$')
    local rule = rule_id and rule_in(book, rule_id, now)
    if rule then
      local known = redis.call('HMGET', P .. 'rule:' .. rule_id, 'a', 'u', 'l', 'q')
      found[#found + 1] = rule
      found[#found + 1] = known[1] or '{}'
      found[#found + 1] = known[2] or '0'
      found[#found + 1] = known[3] or ''
      found[#found + 1] = known[4] or ''
    end
  end
end
return found
