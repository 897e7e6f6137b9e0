-- Foresee how a request ends: id, ending, facts for the audit, in how many ms.
-- Answers 1, the ending when it has ended already, or 0 when there is no such request.
local id, ending, facts, life = unpack(ARGV)
local record = P .. 'r:' .. id
local known = redis.call('HMGET', record, 'q', 'e', 'f')
if not known[1] then
  be_primary()
  return 0
end
if known[2] then return known[2] end
if not known[3] then
  need('ZADD', P .. 'due', '0', '')
  local from = clock() + life
  redis.call('HSET', record, 'f', ending, 'ff', facts, 'ft', from)
  redis.call('ZADD', P .. 'due', 'XX', 'LT', from, id)
end
return 1
