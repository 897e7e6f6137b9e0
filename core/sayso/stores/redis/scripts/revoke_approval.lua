-- Put a denial in the place of the approval of a call: id, denial, facts for the audit.
-- Answers the ending that counts now, 1 while the request is open, or 0 when there is none.
local id, denial, facts = unpack(ARGV)
local record = P .. 'r:' .. id
local known = redis.call('HMGET', record, 'q', 'e', 'n', 'o')
if not known[1] then
  be_primary()
  return 0
end
if not known[2] then return 1 end
local ending = cjson.decode(known[2])
if ending.type ~= 'PERMISSION_RESPONSE' or ending.approved ~= true then return known[2] end
need('HSET', record, 'e', '')
audit(known[3], facts, clock())
redis.call('HSET', record, 'e', denial, 'y', known[2])
put('again', id)
tell_observers(known[4], denial)
return denial
