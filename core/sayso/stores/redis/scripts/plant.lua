-- Keep a rule that another store keeps: its id, the book it stands in, its expiry in ms, the rule, and
-- the facts of the request that stored it. Answers 1, or 0 where it is here or was revoked here.
local rule_id, name, rule_until, rule, about = unpack(ARGV)
need_book(name, rule_id)
local now = clock()
if redis.call('HGET', P .. 'rule:' .. rule_id, 'x') then return 0 end
if rule_in(name, rule_id, now) then return 0 end
keep_rule(name, rule_id, rule, rule_until, about, nil, now)
return 1
