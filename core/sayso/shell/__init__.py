"""Command lines: the programs they run, if these only read, and the prefixes they may be known by.

``read`` takes a line apart as every POSIX shell does, or does not understand it. ``read_only`` and
``prefixes`` ask reviewed tables of programs, and ``line_matcher`` tells by them if a line may run
without a question. Nothing here runs or opens anything; rules, and what they store, are a room
above.
"""
