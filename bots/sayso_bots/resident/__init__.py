"""A helper that stays: it has everything loaded, and answers for commands that start often.

What a helper may answer is said by whoever starts it. Here is how it is found, asked and trusted,
and how it ends; without one, every command does its own work. ``place`` and ``client`` are part of
each start: they load a few modules of the standard library, and nothing else.
"""
