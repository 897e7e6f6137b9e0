-- Bind a handle: request id, handle, copy, the handles on its message ('' when it is alone there), how
-- many ms after its deadline the request is known, whom the message calls ('' when nobody).
-- Answers 1, or 0 when there is no such request.
local record = P .. 'r:' .. ARGV[1]
local deadline, key = unpack(redis.call('HMGET', record, 'd', 'k'))
if not deadline then
  be_primary()
  return 0
end
need('SET', P .. 'h:', '')
need('SET', P .. 'key:', '')
-- Whoever presses on a card late is told how it ended: both live as long as the message is wanted.
local over = math.max(deadline + ARGV[5], redis.call('PEXPIRETIME', record))
redis.call('PEXPIREAT', record, over)
if key then redis.call('PEXPIREAT', P .. 'key:' .. key, over) end
redis.call('SET', P .. 'h:' .. ARGV[2], ARGV[1], 'PXAT', over)
redis.call('HSET', record, 'c:' .. ARGV[2], ARGV[3])
-- Fields of their own, so that a process that does not know of them reads the copy all the same.
if ARGV[4] ~= '' then redis.call('HSET', record, 'm:' .. ARGV[2], ARGV[4]) end
if ARGV[6] ~= '' then redis.call('HSET', record, 'n:' .. ARGV[2], ARGV[6]) end
return 1
