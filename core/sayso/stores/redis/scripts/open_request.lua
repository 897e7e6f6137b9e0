-- Open a request: id, request, life in ms, inbox, session, agent, project ('' for none), '1' to check
-- the version of the rules, '2' to keep it for whoever approves, too, that version, facts for all
-- entries of the audit on it, those of the first, the channel of whoever follows its branch, for what
-- needs nobody its ending, and facts on that (both '' where nothing is audited), the key it is asked
-- under, as a name in keys ('' for none), and the token it came with ('' for none).
-- Answers 'open', the ms left and the time, 'changed', 'duplicate', 'full' with 'agent' or 'token'
-- and how many of its requests may be open, or 'joined' with the id of what was asked under the key
-- before, the time, and its fields and their values.
local id, request, life, inbox, session, agent, project, check, version = unpack(ARGV)
local facts, asked, observers, ending, ended, key, token = unpack(ARGV, 10)
local record = P .. 'r:' .. id
local exactly = exact_clock()
local now = math.floor(exactly / 1000)
local known = redis.call('HMGET', record, 'q', 'd', 'i', 'e')
if known[1] and known[1] ~= request then return {'duplicate'} end
-- An open request is due. One that is not was half opened, by a user who may not do all of this.
if known[1] and (known[4] or redis.call('ZSCORE', P .. 'due', id)) then
  if not known[4] then
    add_inbox(record, known[3], inbox)
  elseif inbox ~= '' then
    ring(inbox, told(known[4], version_of(session, agent, project), now))
  end
  return {'open', known[2] - now, now}
end
local pointer = session .. ':' .. key
local other = key ~= '' and asked_under(pointer)
if other then
  -- A hold for good nobody could give back, should this be another call than that one.
  if inbox ~= '' then hold_open(other, id, inbox) end
  local found = all_of(other, now)
  table.insert(found, 1, 'joined')
  return found
end
if check ~= '0' and version_of(session, agent, project) ~= version then return {'changed'} end
local counted = ending ~= '' and {} or {agent = agent, token = token ~= '' and token or nil}
for kind, name in pairs(counted) do
  local most = tonumber(redis.call('HGET', P .. 'limits', kind) or 0)
  local open = most > 0 and redis.call('ZCOUNT', P .. 'open:' .. name, '(' .. now, '+inf') or -1
  if open >= most then return {'full', kind, most} end
end
need('HSET', record, 'e', '')
need('SET', P .. 'key:', '')
for _, set in ipairs({'due', 'open:', 'asked:'}) do need('ZADD', P .. set, '0', '') end
local deadline = now + life
-- What is asked was held against rules of a version, '?' for none.
redis.call(
  'HSET', record, 'q', request, 'd', deadline, 's', session, 'a', agent, 'j', project,
  'i', inbox, 'n', facts, 'o', observers, 'b', now, 'v', check == '2' and version or '?'
)
if token ~= '' then redis.call('HSET', record, 'tk', token) end
local kept_until = deadline + DAY
redis.call('PEXPIREAT', record, kept_until)
if key ~= '' then
  redis.call('HSET', record, 'k', pointer)
  hold_open(id, id, inbox)
  redis.call('SET', P .. 'key:' .. pointer, id, 'PXAT', kept_until)
end
-- What makes it open, or ended, comes last: whatever stops this before is done anew.
if asked ~= '' then audit(facts, asked, now) end
tell_observers(observers, request)
if ending ~= '' then
  if ended ~= '' then audit(facts, ended, now) end
  tell_observers(observers, ending)
end
put(ending ~= '' and 'end' or 'ask', id)
live_until(P .. 'jobs', deadline + WEEK, now)
if ending ~= '' then
  redis.call('HSET', record, 'e', ending, 't', '', 'z', now)
else
  local asked_here = P .. 'asked:' .. session
  redis.call('ZADD', asked_here, exactly, id)
  redis.call('ZREMRANGEBYRANK', asked_here, 0, -21)
  live_until(asked_here, deadline + DAY, now)
  for _, name in pairs(counted) do
    local open = P .. 'open:' .. name
    redis.call('ZREMRANGEBYSCORE', open, '-inf', now)
    redis.call('ZADD', open, deadline, id)
    live_until(open, deadline, now)
  end
  redis.call('ZADD', P .. 'due', deadline, id)
  live_until(P .. 'due', deadline + DAY, now)
end
return {'open', deadline - now, now}
