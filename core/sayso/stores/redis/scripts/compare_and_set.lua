-- Keep a text in the place of another one: key, '1' if there is one before, that one, the new one, for
-- how many ms. Answers 1, or 0 when the text is another one by now.
-- A caller that finds the new one there has set it: the reply to it was lost on the way.
local name, has_before, before, after, life = unpack(ARGV)
local key = P .. name
local text = redis.call('GET', key)
if text ~= (has_before == '1' and before) and text ~= after then return 0 end
redis.call('SET', key, after, 'PX', life)
return 1
