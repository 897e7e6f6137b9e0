-- Lay the floor: its version, the floor as JSON, '1' if another one stays, '1' if it denies nothing.
-- Answers the version that is there now, '' for none.
local version, floor, stays, empty = unpack(ARGV)
local key = P .. 'floor'
local known = redis.call('HGET', key, 'v')
if not known and empty == '1' then
  be_primary()
  return ''
end
if known and known ~= version and stays == '1' then return known end
local now = clock()
if known ~= version then redis.call('HSET', key, 'v', version, 'w', floor) end
live_until(key, now + 2 * QUARTER, now)
return version
