"""The conversations of ``sayso.platforms`` as Telegram's messages.

The core says what is asked; this says how a view looks and posts it.
"""
