-- Read a branch's log: branch, a new epoch, and to read events the epoch and number of a position,
-- how many of them, and how many bytes.
-- Answers its epoch, its last number, how many questions are open, and a list of the events asked
-- for, which ends with the one that fills the bytes; no list when events after the position are gone.
local branch, fresh, epoch, number, count, bytes = unpack(ARGV)
local head, log = P .. 'branch:' .. branch, P .. 'log:' .. branch
if redis.call('HSETNX', head, 'v', fresh) == 1 then redis.call('DEL', log) end
local now = clock()
live_until(head, now + QUARTER, now)
local known = redis.call('HMGET', head, 'v', 'n', 'o')
local last = tonumber(known[2] or '0')
local answer = {known[1], last, tonumber(known[3] or '0')}
if not number then return answer end
local from = tonumber(number)
if epoch ~= '' and (epoch ~= known[1] or from > last) then return answer end
-- A few at a time, so that no more large ones are touched than are sent.
local found, after, left = {}, number, tonumber(bytes)
while left > 0 and #found < tonumber(count) do
  local asked = math.min(4, count - #found)
  local some = redis.call('XRANGE', log, '(' .. after .. '-0', '+', 'COUNT', asked)
  for _, entry in ipairs(some) do
    if left > 0 then
      found[#found + 1] = entry
      left = left - #entry[2][4]
      after = string.match(entry[1], '^%d+')
    end
  end
  if #some < asked then break end
end
-- Numbers have no gaps: where the next one is not there, it is gone.
local first = found[1] and tonumber(string.match(found[1][1], '^%d+')) or last + 1
if epoch ~= '' and first ~= from + 1 then return answer end
answer[4] = found
return answer
