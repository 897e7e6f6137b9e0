-- Take a rule back: its id, the caller's token, facts for the audit, who does it. Answers 1, or 0 when
-- there is no such rule. The token is the new version of the rules it stood among. The request that
-- stored it says so from then on, and so do its cards.
local rule_id, token, facts, by = unpack(ARGV)
local rule = P .. 'rule:' .. rule_id
local known = redis.call('HMGET', rule, 'b', 'a', 'x', 'q')
local now = clock()

-- The book that it stands in. What is noted of a rule may be gone, or written by another user.
local function find_book()
  if known[1] and rule_in(known[1], rule_id, now) then return known[1] end
  for _, name in ipairs(redis.call('ZRANGE', P .. 'books', 0, -1)) do
    if rule_in(name, rule_id, now) then return name end
  end
end

local name = find_book()
if not name then
  if not known[1] then be_primary() end
  return known[3] == token and 1 or 0
end
need_book(name, rule_id)
need('HSET', P .. 'r:', 'rb', '')
local book = P .. 'book:' .. name
redis.call('HDEL', book, 'r:' .. rule_id)
redis.call('HSET', book, 'v', token)
redis.call('HSET', rule, 'x', token)
live_until(rule, now + DAY, now)
local record = known[4] and P .. 'r:' .. known[4]
if record and redis.call('EXISTS', record) == 1 then
  redis.call('HSET', record, 'rb', by, 'rt', now)
  put('again', known[4])
  live_until(P .. 'jobs', now + WEEK, now)
end
audit(known[2], facts, now)
return 1
