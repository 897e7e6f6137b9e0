-- Keep a text in the place of another one: key, '1' if there is one, that one, the new one, for how
-- many ms. Answers 1, or 0 when the text is another one by now.
-- Who finds the new one there has written it: the answer to this call was lost on the way.
local key, had, before, after, life = unpack(ARGV)
local document = P .. 'document:' .. key
local known = redis.call('GET', document)
if known ~= (had == '1' and before) and known ~= after then return 0 end
redis.call('SET', document, after, 'PX', life)
return 1
