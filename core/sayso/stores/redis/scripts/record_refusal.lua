-- Note a refused press: id, its kind and actor, facts for the audit, how many are noted at most.
-- Answers 1 when it is noted, 0 when this one was before, there are enough, or no such request.
local id, who, facts, most = unpack(ARGV)
local record = P .. 'r:' .. id
local known = redis.call('HMGET', record, 'q', 'n', 'u', 'u:' .. who)
if not known[1] or known[4] or tonumber(known[3] or 0) >= tonumber(most) then return 0 end
redis.call('HSET', record, 'u:' .. who, '')
redis.call('HINCRBY', record, 'u', 1)
audit(known[2], facts, clock())
return 1
