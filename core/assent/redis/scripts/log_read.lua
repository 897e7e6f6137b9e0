-- Read a branch's log: branch, a new epoch, and to read events the epoch and number of a position
-- and how many of them.
-- Answers its epoch, its last number, how many questions are open, and a list of the events asked
-- for; no list when events after the position are gone.
local branch, fresh, epoch, number, count = unpack(ARGV)
local head, log = P .. 'branch:' .. branch, P .. 'log:' .. branch
if redis.call('HSETNX', head, 'v', fresh) == 1 then redis.call('DEL', log) end
local now = clock()
live_until(head, now + QUARTER, now)
local known = redis.call('HMGET', head, 'v', 'n', 'o')
local last = tonumber(known[2] or '0')
local answer = {known[1], last, tonumber(known[3] or '0')}
if not number then return answer end
if epoch ~= '' then
  local first = redis.call('XRANGE', log, '-', '+', 'COUNT', 1)[1]
  local oldest = first and tonumber(string.match(first[1], '^%d+')) or last + 1
  local from = tonumber(number)
  if epoch ~= known[1] or from > last or from + 1 < oldest then return answer end
end
answer[4] = redis.call('XRANGE', log, '(' .. number .. '-0', '+', 'COUNT', count)
return answer
