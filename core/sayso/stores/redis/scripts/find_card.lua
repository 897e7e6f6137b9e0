-- Find what a handle is bound to: handle, delivery ('' for none), the caller's token.
-- Answers 'found' with id, request, deadline, copy, ending, the handles on its message, what else
-- is known of the copy, what became of an approval, who took back what it stored, and whom its
-- message calls;
-- 'unknown'; or 'replayed'.
local handle, delivery, token = unpack(ARGV)

-- Whether a callback was here before, in another call than the one with this token. '' never was.
local function was_here(delivery, token)
  if delivery == '' then return false end
  local seen = P .. 'seen:' .. delivery
  return not redis.call('SET', seen, token, 'NX', 'EX', 600) and redis.call('GET', seen) ~= token
end

if was_here(delivery, token) then return {'replayed'} end
local id = redis.call('GET', P .. 'h:' .. handle)
if not id then
  be_primary()
  return {'unknown'}
end
local known = redis.call(
  'HMGET', P .. 'r:' .. id, 'q', 'd', 'c:' .. handle, 'e', 'm:' .. handle, 'x:' .. handle,
  'pk', 'pa', 'po', 'pt', 'rb', 'rt', 'n:' .. handle
)
if not known[1] or not known[3] then return {'unknown'} end
return {
  'found', id, known[1], known[2], known[3], known[4], known[5], known[6],
  {known[7], known[8], known[9], known[10]}, {known[11], known[12]}, known[13]
}
