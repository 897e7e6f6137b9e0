"""The double of Slack: its Web API, its callbacks, its socket, and the limits of both.

It imports nothing of ours, so that it cannot share a mistake of the adapter that it is there to
find. What a person sees of it in a browser is in ``page``.
"""
