"""Whether a callback is Slack's, from our workspace, new, and what its payload says.

Functions of bytes and clocks; nothing in here answers, and nobody is asked.
"""
