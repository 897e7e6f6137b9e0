-- Note what was decided without a question: facts for the audit.
audit('{}', ARGV[1], clock())
return 1
