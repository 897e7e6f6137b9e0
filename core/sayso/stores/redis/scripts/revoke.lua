-- Take a rule back: its id, the caller's token, facts for the audit ('' for none), who does it. Answers 1, or 0 when
-- there is no such rule. The token is the new version of the rules it stood among. The request that
-- stored it says so from then on, and so do its cards.
local rule_id, token, facts, by = unpack(ARGV)
local rule = P .. 'rule:' .. rule_id
local known = redis.call('HMGET', rule, 'b', 'a', 'x', 'q')
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
local record = known[4] and P .. 'r:' .. known[4]
if record and redis.call('EXISTS', record) == 1 then
  redis.call('HSET', record, 'rb', by, 'rt', now)
  put('again', known[4])
  live_until(P .. 'jobs', now + WEEK, now)
end
if facts ~= '' then audit(known[2], facts, now) end
return 1
