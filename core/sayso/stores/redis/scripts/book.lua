-- The rules that count for a session: session, agent. Answers the version, then the rules that have
-- not expired.
return rules_of(ARGV[1], ARGV[2], clock())
