-- Count a use of a rule: session, agent, project ('' for none), rule id, the caller's token, whether to check the version
-- of the rules, that version, facts for the audit. Answers 1, or 0 when nothing was counted.
local session, agent, project, rule_id, token, check, version, facts = unpack(ARGV)
local now = clock()
local found = rule_in(session, rule_id, now) or rule_in(agent, rule_id, now)
if not found and project ~= '' then found = rule_in(project, rule_id, now) end
if not found then return 0 end
local rule = P .. 'rule:' .. rule_id
local known = redis.call('HMGET', rule, 'a', 't')
if known[2] == token then return 1 end
if check == '1' and version_of(session, agent, project) ~= version then return 0 end
redis.call('HINCRBY', rule, 'u', 1)
redis.call('HSET', rule, 'l', now, 't', token)
live_until(rule, now + DAY, now)
audit(known[1], facts, now)
return 1
