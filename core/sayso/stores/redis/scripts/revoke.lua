-- Take a rule back: its id, the caller's token, facts for the audit. Answers 1, or 0 when there is
-- no such rule. The token is the new version of the rules it stood among.
local rule_id, token, facts = unpack(ARGV)
local rule = P .. 'rule:' .. rule_id
local known = redis.call('HMGET', rule, 'b', 'a', 'x')
if not known[1] then
  be_primary()
  return 0
end
if known[3] then return known[3] == token and 1 or 0 end
local now = clock()
if not rule_in(known[1], rule_id, now) then return 0 end
local book = P .. 'book:' .. known[1]
redis.call('HDEL', book, 'r:' .. rule_id)
redis.call('HSET', book, 'v', token)
redis.call('HSET', rule, 'x', token)
audit(known[2], facts, now)
return 1
