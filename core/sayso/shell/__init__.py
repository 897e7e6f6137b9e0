"""Command lines: what they run, whether it only looks, and by which first words they may be known.

``read`` takes a line apart as every POSIX shell does, or does not understand it. ``looks`` and
``beginnings`` are reviewed tables of programs, and ``matchers`` says by them whether a line may run
without a question. Nothing here runs or opens anything; rules, and what they store, are a room
above.
"""
