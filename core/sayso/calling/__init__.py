"""How people are called: by what, when again, and in which hours not at all.

Whoever asks who is called now finds that in ``desk``; how a platform does it is the port
``chats.caller``. In here are the settings, as values.
"""
