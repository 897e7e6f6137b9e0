-- All of a request: id. Answers the time, then its fields and their values.
local fields = redis.call('HGETALL', P .. 'r:' .. ARGV[1])
if #fields == 0 then be_primary() end
table.insert(fields, 1, clock())
return fields
