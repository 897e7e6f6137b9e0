-- Open requests of a session: its name in keys, a cursor, how many to look at, more or less.
-- Answers the next cursor, '0' when all were looked at, then their ids.
local session, cursor, count = unpack(ARGV)
local next_cursor, some = unpack(redis.call('ZSCAN', P .. 'due', cursor, 'COUNT', count))
local found = {next_cursor}
for i = 1, #some, 2 do
  if redis.call('HGET', P .. 'r:' .. some[i], 's') == session then found[#found + 1] = some[i] end
end
return found
