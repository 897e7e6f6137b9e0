-- The rules that count for a run: session, agent, project ('' for none), the version of the floor
-- that is known.
-- Answers as rules_of in common.lua does.
return rules_of(ARGV[1], ARGV[2], ARGV[3], ARGV[4], clock())
