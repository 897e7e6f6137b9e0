-- Answers the time. A replica that was the primary a moment ago does not: its clock may be another.
be_primary()
return clock()
