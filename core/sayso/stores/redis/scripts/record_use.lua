-- Count a use of rules, of all or of none: session, agent, project ('' for none), the caller's token, whether to check the
-- version of the rules, that version; then each rule's id and the facts of its use for the audit. Answers 1, or 0 when
-- nothing was counted.
local session, agent, project, token, check, version = unpack(ARGV, 1, 6)
local now = clock()
local used = {}
for at = 7, #ARGV, 2 do
  local rule_id = ARGV[at]
  local found = rule_in(session, rule_id, now) or rule_in(agent, rule_id, now)
  if not found and project ~= '' then found = rule_in(project, rule_id, now) end
  if not found then return 0 end
  local rule = P .. 'rule:' .. rule_id
  local known = redis.call('HMGET', rule, 'a', 't')
  if known[2] == token then return 1 end
  used[#used + 1] = { rule, known[1], ARGV[at + 1] }
end
if check == '1' and version_of(session, agent, project) ~= version then return 0 end
for _, one in ipairs(used) do
  redis.call('HINCRBY', one[1], 'u', 1)
  redis.call('HSET', one[1], 'l', now, 't', token)
  live_until(one[1], now + DAY, now)
  audit(one[2], one[3], now)
end
return 1
