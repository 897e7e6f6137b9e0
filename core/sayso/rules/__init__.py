"""Rules: which calls they mean, and which of many rules may match a call.

Also what a tool says of itself (``declarations``), and what may surprise in a rule (``lint``).
What follows from a rule that matches is decided in ``policy``.
"""
