"""Notifications: an adapter that does not wait is told that its request has ended.

Here is where they may go, how they are signed, how one try is made and when the next one comes.
What a request is and how it ends belongs to the room above.
"""
