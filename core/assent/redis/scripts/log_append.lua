-- Append an event to a branch's log: branch, question id, kind, type, event, a new epoch, how many to
-- keep, for how many ms, the channel of the bell, the bell.
-- Answers 1 when it was written, 0 when this question has one of this kind, -1 without the question.
local branch, id, kind, name, event, epoch, most, life, channel, bell = unpack(ARGV)
local record = P .. 'r:' .. id
local head, log = P .. 'branch:' .. branch, P .. 'log:' .. branch
if redis.call('EXISTS', record) == 0 then return -1 end
if redis.call('HSETNX', record, 'l:' .. kind, 1) == 0 then return 0 end
-- Numbers begin again only in a new epoch; an older stream must not be in their way.
if redis.call('HSETNX', head, 'v', epoch) == 1 then redis.call('DEL', log) end
local number = redis.call('HINCRBY', head, 'n', 1)
if kind ~= 'outcome' then
  redis.call('HINCRBY', head, 'o', kind == 'request' and 1 or -1)
end
local entry = string.format('%d-0', number)
redis.call('XADD', log, 'MAXLEN', '~', most, entry, 't', name, 'e', event)
local now = clock()
live_until(log, now + tonumber(life), now)
live_until(head, now + QUARTER, now)
redis.call('PUBLISH', channel, bell)
return 1
