-- Drop the decisions that the audit has had for longer than so many ms: those ms.
local audited, now = P .. 'audit', clock()
redis.call('XTRIM', audited, 'MINID', string.format('%.0f', now - ARGV[1]))
live_until(audited, now + ARGV[1], now)
return 1
