-- Note what was decided without a question, once: facts for the audit, a token of the call.
if not redis.call('SET', P .. 'noted:' .. ARGV[2], '', 'NX', 'EX', 60) then return 0 end
audit('{}', ARGV[1], clock())
return 1
