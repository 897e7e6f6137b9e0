"""The ports in memory, for one process: a test, a demonstration, a script.

They keep the same contracts as those on Redis and forget everything with the process.
"""
