-- Append an event to a branch's log: branch, question id, kind, type, event, a new epoch, how many to
-- keep and how many bytes, for how many ms, the channel of the bell, the bell.
-- Answers 1 when it was written, 0 when this question has one of this kind, -1 without the question.
local branch, id, kind, name, event, epoch, most, most_bytes, life, channel, bell = unpack(ARGV)
local record = P .. 'r:' .. id
need('PUBLISH', channel, bell)
local head, log = P .. 'branch:' .. branch, P .. 'log:' .. branch
need('HSET', head, 'v', '')
need('XADD', log, '*', 'a', '')
if redis.call('EXISTS', record) == 0 then return -1 end
if redis.call('HSETNX', record, 'l:' .. kind, 1) == 0 then return 0 end
-- Numbers begin again only in a new epoch; an older stream must not be in their way.
if redis.call('HSETNX', head, 'v', epoch) == 1 then redis.call('DEL', log) end
local number = redis.call('HINCRBY', head, 'n', 1)
if kind == 'request' or kind == 'ending' then
  redis.call('HINCRBY', head, 'o', kind == 'request' and 1 or -1)
end
-- How many bytes were written in this epoch, this event's included: with it, what was written before
-- any event is known, and so how many bytes are kept.
local written = redis.call('HINCRBY', head, 'b', #event)
local entry = string.format('%d-0', number)
redis.call('XADD', log, 'MAXLEN', '~', most, entry, 't', name, 'e', event, 'b', written)
-- 'g': so many bytes are gone at least; what was dropped for its count is found out when it matters.
local gone = tonumber(redis.call('HGET', head, 'g') or '0')
if written - gone > tonumber(most_bytes) then
  repeat
    local oldest = redis.call('XRANGE', log, '-', '+', 'COUNT', 1)[1]
    local fields = oldest[2]
    gone = tonumber(fields[6]) - #fields[4]
    local is_too_much = written - gone > tonumber(most_bytes) and oldest[1] ~= entry
    if is_too_much then redis.call('XDEL', log, oldest[1]) end
  until not is_too_much
  redis.call('HSET', head, 'g', string.format('%.0f', gone))
end
local now = clock()
live_until(log, now + tonumber(life), now)
live_until(head, now + QUARTER, now)
redis.call('PUBLISH', channel, bell)
return 1
