"""The double of Telegram: its Bot API, its updates, and the limits of both.

It imports nothing of ours, so that it cannot share a mistake of the adapter that it is there to
find. What a person sees of it in a browser is in ``page``.
"""
