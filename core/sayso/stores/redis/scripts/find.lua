-- Find what a handle is bound to: handle, delivery ('' for none), the caller's token.
-- Answers 'found' with id, request, deadline, copy, ending, the handles on its message, and what else
-- is known of the copy;
-- 'unknown'; or 'replayed'.
local handle, delivery, token = unpack(ARGV)
if was_here(delivery, token) then return {'replayed'} end
local id = redis.call('GET', P .. 'h:' .. handle)
if not id then
  be_primary()
  return {'unknown'}
end
local known = redis.call(
  'HMGET', P .. 'r:' .. id, 'q', 'd', 'c:' .. handle, 'e', 'm:' .. handle, 'x:' .. handle
)
if not known[1] or not known[3] then return {'unknown'} end
return {'found', id, known[1], known[2], known[3], known[4], known[5], known[6]}
