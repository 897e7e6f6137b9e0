"""The kinds of question, a file each: the event, its card, its answers and what came of it.

``kinds`` is the only list of them, and ``wire`` reads and writes them all. A kind knows neither
the store nor the chats.
"""
