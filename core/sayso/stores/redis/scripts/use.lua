-- Count a use of a rule: session, agent, rule id, the caller's token, whether to check the version
-- of the rules, that version, facts for the audit. Answers 1, or 0 when nothing was counted.
local session, agent, rule_id, token, check, version, facts = unpack(ARGV)
local now = clock()
if not rule_in(session, rule_id, now) and not rule_in(agent, rule_id, now) then return 0 end
local rule = P .. 'rule:' .. rule_id
local known = redis.call('HMGET', rule, 'a', 't')
if known[2] == token then return 1 end
if check == '1' and version_of(session, agent) ~= version then return 0 end
redis.call('HINCRBY', rule, 'u', 1)
redis.call('HSET', rule, 'l', now, 't', token)
live_until(rule, now + DAY, now)
audit(known[1], facts, now)
return 1
