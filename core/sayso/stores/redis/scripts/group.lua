-- Make the outbox and its consumer group where they are missing: group.
local made = redis.pcall('XGROUP', 'CREATE', P .. 'jobs', ARGV[1], '0', 'MKSTREAM')
if made.err and not string.find(made.err, 'BUSYGROUP', 1, true) then return made end
local now = clock()
live_until(P .. 'jobs', now + WEEK, now)
return 1
