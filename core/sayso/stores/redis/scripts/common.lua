-- Before every script, each of the functions where the script needs it. All keys begin with KEYS[1],
-- see keys.py.
local P = KEYS[1]
local HOUR = 3600000
local DAY = 24 * HOUR
local WEEK = 7 * DAY
local QUARTER = 90 * DAY
local YEAR = 365 * DAY

-- Refuse the script where its user may not do this: nothing is taken back of what a script did before
-- a command that is not permitted, so that is found out before anything is changed.
local function need(command, name, ...)
  if not redis.acl_check_cmd(command, name, ...) then
    error({err = 'NOPERM ' .. command .. ' on ' .. string.gsub(name, 'nothing$', '*')})
  end
end

-- Refuse the script where its user may not run all of its commands. These have as many arguments as
-- they need, or the server reads what is not there.
local function need_all(commands)
  local none = P .. 'nothing'
  for _, command in ipairs(commands) do need(command, none, none, none) end
end

-- The time by the server's clock, in microseconds, and in milliseconds as all else is.
local function exact_clock()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end

local function clock()
  return math.floor(exact_clock() / 1000)
end

-- Let a key live at least until a moment; an hour longer, so that this is not done every time.
local function live_until(key, moment, now)
  if redis.call('PTTL', key) < moment - now then
    redis.call('PEXPIREAT', key, moment + HOUR)
  end
end

-- Nothing is known here of what was asked for. A replica that was the primary a moment ago must not
-- say so, because it may only not know of it yet: it refuses to write.
local function be_primary()
  redis.call('DEL', P .. 'nothing')
end

-- Leave a job for a desk: 'ask', 'end', or 'again' where the request had ended before. The outbox
-- lives long enough since the request was opened.
local function put(kind, id)
  redis.call('XADD', P .. 'jobs', '*', 'k', kind, 'q', id)
end
need('XADD', P .. 'jobs', '*', 'k', 'q')

-- Ring this inbox too when the request ends. The 8 newest are kept.
local function add_inbox(record, inboxes, inbox)
  if inbox == '' then return end
  local kept = {}
  for other in string.gmatch(inboxes, '%S+') do
    if other == inbox then return end
    kept[#kept + 1] = other
  end
  kept[#kept + 1] = inbox
  redis.call('HSET', record, 'i', table.concat(kept, ' ', math.max(1, #kept - 7)))
end

-- The version of the rules that count for a run: its session's, its agent's, its project's ('' and
-- false for none), and the server's floor.
local function version_of(session, agent, project)
  local books = {P .. 'book:' .. session, P .. 'book:' .. agent}
  if (project or '') ~= '' then books[3] = P .. 'book:' .. project end
  -- Most of the time nothing is remembered for it, and no floor laid: one look says so.
  if redis.call('EXISTS', P .. 'floor', unpack(books)) == 0 then return '' end
  local own = {}
  for _, book in ipairs(books) do
    local version = redis.call('HGET', book, 'v')
    if version then own[#own + 1] = version end
  end
  local floor = redis.call('HGET', P .. 'floor', 'v')
  return table.concat(own, '+') .. (floor and '~' .. floor or '')
end
for _, read in ipairs({'floor', 'book:'}) do need('HGET', P .. read, 'v') end

-- What an inbox is told of an ending: with the version of the session's rules at this moment, and
-- the moment. An ending is an object with fields, so these two come before the others.
local function told(ending, version, now)
  return string.format('{"rung":[%s,%.0f],%s', cjson.encode(version), now, string.sub(ending, 2))
end

-- Tell the process behind an inbox; how many were told.
local function ring(inbox, what)
  return redis.call('PUBLISH', P .. 'bus:inbox:' .. inbox, what)
end
need('PUBLISH', P .. 'bus:inbox:', '')

-- Tell whoever follows the branch of a request, on its channel, what the store has of it.
local function tell_observers(channel, what)
  if channel then redis.call('PUBLISH', channel, what) end
end
need('PUBLISH', P .. 'bus:events:', '')

-- A rule in a book, nil when it is not there or has expired.
local function rule_in(book, rule_id, now)
  local kept = redis.call('HGET', P .. 'book:' .. book, 'r:' .. rule_id)
  if not kept then return nil end
  local until_ms, rule = string.match(kept, '^(%d+) (.*)$')
  if tonumber(until_ms) > now then return rule end
end

-- Refuse the script where its user may not change a rule and its book.
local function need_book(name, rule_id)
  need('HSET', P .. 'book:' .. name, 'v', '')
  need('HSET', P .. 'rule:' .. rule_id, 'b', '')
  need('ZADD', P .. 'books', '0', '')
end

-- Keep a rule in a book, which has another version from then on, with the facts of the request that
-- stored it and its id.
local function keep_rule(name, rule_id, rule, rule_until, about, id, now)
  local book = P .. 'book:' .. name
  local rules = redis.call('HGETALL', book)
  for i = 1, #rules, 2 do
    local until_ms = string.match(rules[i + 1], '^(%d+) ')
    if rules[i] ~= 'v' and tonumber(until_ms) <= now then redis.call('HDEL', book, rules[i]) end
  end
  local over = math.max(now, tonumber(rule_until))
  redis.call('HSET', book, 'v', rule_id, 'r:' .. rule_id, rule_until .. ' ' .. rule)
  redis.call('HSET', P .. 'rule:' .. rule_id, 'b', name, 'a', about or '{}', 'q', id)
  redis.call('ZADD', P .. 'books', 'GT', rule_until, name)
  for _, key in ipairs({book, P .. 'rule:' .. rule_id, P .. 'books'}) do
    live_until(key, over + DAY, now)
  end
end

-- The rules that count for a run: their version, the floor's, the floor itself unless that
-- version is known, then the rules that have not expired.
local function rules_of(session, agent, project, known_floor, now)
  local floor = redis.call('HMGET', P .. 'floor', 'v', 'w')
  local is_known = not floor[1] or floor[1] == known_floor
  local found = {version_of(session, agent, project), floor[1] or '', is_known and '' or floor[2]}
  for _, name in ipairs({session, agent, project or ''}) do
    local rules = name ~= '' and redis.call('HGETALL', P .. 'book:' .. name) or {}
    for i = 1, #rules, 2 do
      if rules[i] ~= 'v' then
        local until_ms, rule = string.match(rules[i + 1], '^(%d+) (.*)$')
        if tonumber(until_ms) > now then found[#found + 1] = rule end
      end
    end
  end
  return found
end

-- A request is open no more, nor does it count for its agent and its token, false for none.
local function close(id, agent, token)
  redis.call('ZREM', P .. 'due', id)
  redis.call('ZREM', P .. 'open:' .. agent, id)
  if token then redis.call('ZREM', P .. 'open:' .. token, id) end
end
for _, set in ipairs({'due', 'open:'}) do need('ZREM', P .. set, '') end

-- The parts of a copy as it is kept beside its request: platform, address, thread, message id.
local function named(copy)
  return cjson.decode(copy)[4] ~= ''
end

local function place_of(copy)
  return table.concat(cjson.decode(copy), '\0', 1, 3)
end

-- Note what happened: two sets of facts as JSON, the second counts. A decision is kept until a worker
-- drops it. All else goes to a stream of its agent's own: none pushes out what is another's. 'o' is
-- the order of entries of one ms.
local function audit(facts, more, now)
  local about, what = cjson.decode(facts or '{}'), cjson.decode(more)
  local order = redis.call('INCR', P .. 'audited')
  live_until(P .. 'audited', now + YEAR, now)
  if what.decision then
    redis.call('XADD', P .. 'audit', '*', 'a', facts or '{}', 'w', more, 'o', order)
    live_until(P .. 'audit', now + YEAR, now)
    return
  end
  local agent = redis.sha1hex(what.agent_id or about.agent_id or '')
  local stream, agents = P .. 'activity:' .. agent, P .. 'agents'
  local id = redis.call(
    'XADD', stream, 'MAXLEN', '~', 5000, '*', 'a', facts or '{}', 'w', more, 'o', order
  )
  redis.call('ZADD', agents, string.match(id, '^%d+'), agent)
  redis.call('ZREMRANGEBYSCORE', agents, '-inf', now - QUARTER)
  live_until(stream, now + QUARTER, now)
  live_until(agents, now + QUARTER, now)
end
for _, stream in ipairs({'audit', 'activity:'}) do need('XADD', P .. stream, '*', 'a', '') end
need('INCR', P .. 'audited')
need('ZADD', P .. 'agents', '0', '')

-- The id of the request that was asked under a key; nil when there is none, or it was half opened.
local function asked_under(key)
  local id = redis.call('GET', P .. 'key:' .. key)
  if not id then return nil end
  local is_known = redis.call('HGET', P .. 'r:' .. id, 'e') or redis.call('ZSCORE', P .. 'due', id)
  return is_known and id or nil
end

-- Let a waiter of the process behind an inbox hold a request; for good, where there is no inbox.
local function hold_open(id, waiter, inbox)
  redis.call('HSET', P .. 'r:' .. id, 'w:' .. (inbox ~= '' and waiter or ''), inbox)
end

-- The id of a request, the time, then all of its fields and their values.
local function all_of(id, now)
  local found = redis.call('HGETALL', P .. 'r:' .. id)
  table.insert(found, 1, now)
  table.insert(found, 1, id)
  return found
end

-- Tell of what became of an approval: its cards, and of what a person approved the audit.
local function tell_use(id, ending, facts, more, now)
  if type(cjson.decode(ending).decidedBy) == 'string' then audit(facts, more, now) end
  put('again', id)
  live_until(P .. 'jobs', now + WEEK, now)
end
