-- Note what became of a copy: request id, handle, copy, the place it was sent to.
-- Answers the ending, 1 while the request is open or 0 when there is none, and since when in ms the
-- copy is closed, 0 when it is not.
local id, handle, copy, target = unpack(ARGV)
local record = P .. 'r:' .. id
local known = redis.call('HMGET', record, 'd', 'e', 'c:' .. handle, 'x:' .. handle)
if not known[1] then return {0, 0} end

-- Whether another message stands for the same place.
local function is_second()
  for _, name in ipairs(redis.call('HKEYS', record)) do
    local other = string.match(name, '^c:(.*)$')
    if other and other ~= handle then
      local stored = redis.call('HMGET', record, name, 'x:' .. other)
      local since, sent_to = string.match(stored[2] or '0 ', '^(%d+) (.*)$')
      if sent_to == '' then sent_to = stored[1] end
      if named(stored[1]) and since == '0' and place_of(sent_to) == place_of(target) then
        return true
      end
    end
  end
  return false
end

-- Whoever noted that all of it was shown may have been quicker than who posted it.
if known[3] and cjson.decode(known[3])[5] == 1 then copy = string.gsub(copy, ',0%]$', ',1]') end
local closed = known[4] and string.match(known[4], '^%d+') or '0'
local is_named_now = named(copy) and not (known[3] and named(known[3]))
if is_named_now and not known[2] and is_second() then closed = string.format('%.0f', clock()) end
redis.call('HSET', record, 'c:' .. handle, copy)
-- A field of its own, so that a process that does not know of it reads the copy all the same.
local is_elsewhere = place_of(target) ~= place_of(copy)
if closed ~= '0' or is_elsewhere then
  redis.call('HSET', record, 'x:' .. handle, closed .. ' ' .. (is_elsewhere and target or ''))
end
return {known[2] or 1, tonumber(closed)}
