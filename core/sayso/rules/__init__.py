"""Rules: which calls are meant, and how one finds the rules that may match a call.

Also what a tool says of itself (``declarations``), and what is doubtful in a rule (``lint``).
What follows from a rule that matches is decided in ``policy``.
"""
