-- Try out what the other scripts do, on keys of this one alone: a name for them. Keys that all share
-- are not touched. Answers the name of each command that failed, and how.
local name = ARGV[1]
local failed = {}

local function try(...)
  local done = redis.pcall(...)
  if type(done) == 'table' and done.err then
    failed[#failed + 1] = (...)
    failed[#failed + 1] = done.err
  end
end

local function key(kind) return P .. kind .. ':check-' .. name end

local hash, text, set, stream = key('r'), key('draft'), key('budget'), key('log')
local group, me = 'check', 'check'
try('TIME')
try('SET', text, '1', 'PX', 60000)
try('GET', text)
try('INCR', text)
try('GETEX', text, 'PX', 60000)
try('GETDEL', text)
try('EXISTS', text)
try('HSET', hash, 'a', '1')
try('PEXPIREAT', hash, clock() + 60000)
try('PTTL', hash)
try('PEXPIRETIME', hash)
try('HSETNX', hash, 'b', '1')
try('HINCRBY', hash, 'a', 1)
try('HGET', hash, 'a')
try('HMGET', hash, 'a', 'b')
try('HGETALL', hash)
try('HKEYS', hash)
try('HDEL', hash, 'a')
try('ZADD', set, 1, 'a')
try('PEXPIREAT', set, clock() + 60000)
try('ZSCORE', set, 'a')
try('ZCOUNT', set, 0, 1)
try('ZRANGE', set, 0, -1)
try('ZRANGEBYSCORE', set, 0, 1)
try('ZREVRANGEBYSCORE', set, 1, 0)
try('ZSCAN', set, '0', 'COUNT', 10)
try('ZREM', set, 'b')
try('ZREMRANGEBYSCORE', set, 2, 3)
try('ZREMRANGEBYRANK', set, 0, -3)
try('XGROUP', 'CREATE', stream, group, '0', 'MKSTREAM')
try('PEXPIREAT', stream, clock() + 60000)
local id = redis.pcall('XADD', stream, 'MAXLEN', '~', 10, '*', 'a', 'b')
if type(id) == 'table' and id.err then
  failed[#failed + 1] = 'XADD'
  failed[#failed + 1] = id.err
  id = '1-1'
end
try('XTRIM', stream, 'MINID', '0')
try('XRANGE', stream, '-', '+')
try('XREVRANGE', stream, '+', '-')
try('XREADGROUP', 'GROUP', group, me, 'STREAMS', stream, '>')
try('XPENDING', stream, group)
try('XCLAIM', stream, group, me, 0, id)
try('XAUTOCLAIM', stream, group, me, 0, '0')
try('XINFO', 'CONSUMERS', stream, group)
try('XACK', stream, group, id)
try('XDEL', stream, id)
try('XGROUP', 'DELCONSUMER', stream, group, me)
try('PUBLISH', P .. 'bus:inbox:check-' .. name, 'proof')
try('PUBSUB', 'NUMSUB', P .. 'bus:inbox:check-' .. name)
-- What must not fail once something is decided, on the keys and channels themselves. A command that is
-- not permitted at all is named above.
local function may(command, names, ...)
  local is_permitted = #failed == 0
  if command ~= 'PUBLISH' then is_permitted = redis.acl_check_cmd(command, P, ...) end
  for _, at in ipairs(names) do
    if is_permitted and not redis.acl_check_cmd(command, P .. at, ...) then
      failed[#failed + 1] = command .. ' on ' .. P .. at
      failed[#failed + 1] = 'NOPERM ' .. P .. at
    end
  end
end

may('XADD', {'audit', 'activity:', 'jobs', 'log:'}, '*', 'a', '')
may('INCR', {'audited'})
may('ZADD', {'due', 'open:', 'agents', 'asked:', 'errands:', 'desks', 'books', 'budget:'}, '0', '')
may('HSET', {'r:', 'limits', 'floor', 'book:', 'rule:', 'state:', 'branch:'}, 'a', '')
may('SET', {'nothing', 'h:', 'key:', 'once:', 'noted:', 'seen:', 'lease:', 'moved:', 'draft:', 'document:'}, '')
may('PUBLISH', {'bus:inbox:', 'bus:events:'}, '')
try('DEL', hash, text, set, stream)
return failed
