"""The dialogues of ``sayso.dialogues`` as Telegram's messages: how a view looks, how it is posted.

What is asked and what an answer leads to is the core's.
"""
