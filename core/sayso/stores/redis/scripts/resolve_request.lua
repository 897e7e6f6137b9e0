-- Settle a request: id, ending, '1' if that is its expiry, the caller's token, facts for the audit,
-- '1' if the ending says yes, and the rule to remember: its id, JSON, expiry in ms, '1' if it is for
-- all of the agent's sessions, '2' for those on its project, and facts for the audit ('' for none).
-- Then '1' if it counts only under the rules of this version, '2' if also under those that the call
-- was asked on, that version, and the version of the floor that is known.
-- Answers 'first' and how many heard of it, 'known' and the ending that counts, 'late' with the
-- request and the time, 'changed' with the request, its deadline and the rules that count, 'early',
-- 'unknown', or 'homeless' where the rule is for a project and there is none.
local id, ending, expiry, token, facts, agrees = unpack(ARGV)
local rule_id, rule, rule_until, shared, rule_facts, check, version, floor = unpack(ARGV, 7, 14)
local record = P .. 'r:' .. id

local function remember(name, about, now)
  keep_rule(name, rule_id, rule, rule_until, about, id, now)
  audit(about, rule_facts, now)
end

local known = redis.call(
  'HMGET', record, 'q', 'd', 'i', 's', 'e', 't', 'a', 'n', 'f', 'ff', 'ft', 'v', 'j', 'o', 'tk'
)
if not known[1] then
  be_primary()
  return {'unknown'}
end
-- Whoever settles has to look at the rules first: nothing of this call counts, nor is it seen.
local counts
if check ~= '0' and not known[5] then
  counts = version_of(known[4], known[7], known[13])
  if counts ~= version and not (check == '2' and counts == known[12]) then
    return {'changed', known[1], known[2], rules_of(known[4], known[7], known[13], floor, clock())}
  end
end
need('HSET', record, 'e', '')
local books = {['0'] = known[4], ['1'] = known[7], ['2'] = known[13]}
if rule_id ~= '' then
  if (books[shared] or '') == '' then return {'homeless'} end
  need_book(books[shared], rule_id)
end
if known[5] and known[6] ~= token then return {'known', known[5]} end
-- The same call once more means that its answer was lost on the way: what is done stays done, those
-- who wait are told again.
local now = clock()
if not known[5] then
  local over = now >= tonumber(known[2])
  if known[9] and (agrees == '1' or over or now >= tonumber(known[11])) then
    -- A refusal was foreseen: nothing comes before a denial.
    ending, facts, rule_id, token = known[9], known[10], '', ''
  elseif over and expiry ~= '1' then
    return {'late', known[1], now}
  elseif not over and expiry == '1' then
    return {'early'}
  end
  -- The audit comes first: nothing counts that is not in it. Nobody is told before it counts.
  audit(known[8], facts, now)
  redis.call('HSET', record, 'e', ending, 't', token, 'z', now)
  close(id, known[7], known[15])
  if rule_id ~= '' then
    remember(books[shared], known[8], now)
    counts = nil
  end
  put('end', id)
  tell_observers(known[14], ending)
end
local heard = 0
local what = told(ending, counts or version_of(known[4], known[7], known[13]), now)
for inbox in string.gmatch(known[3], '%S+') do
  heard = heard + ring(inbox, what)
end
if ending ~= ARGV[2] then return {'known', ending} end
return {'first', heard}
