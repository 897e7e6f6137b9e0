-- A rule as another store would keep it: its id. Answers the book it stands in, its expiry in ms, the
-- rule, the facts of the request that stored it, and its id, '' where that is elsewhere; 'revoked', or nothing where it is not known.
local rule_id = ARGV[1]
local known = redis.call('HMGET', P .. 'rule:' .. rule_id, 'b', 'a', 'x', 'q')
if known[3] then return 'revoked' end
if not known[1] then return false end
local kept = redis.call('HGET', P .. 'book:' .. known[1], 'r:' .. rule_id)
local until_ms, rule = string.match(kept or '', '^(%d+) (.*)$')
if not until_ms or tonumber(until_ms) <= clock() then return false end
return {known[1], until_ms, rule, known[2] or '{}', known[4] or ''}
