-- Find what was asked under a key: the session and the key as names in keys, '1' to hold it while it
-- is open, and the waiter and the inbox that do. Answers nothing where there is none, or its id, the
-- time, then its fields and their values.
local session, key, hold, waiter, inbox = unpack(ARGV)
local id = asked_under(session .. ':' .. key)
if not id then
  be_primary()
  return {}
end
if hold == '1' then hold_open(id, waiter, inbox) end
return all_of(id, clock())
