"""What comes from Slack: received over HTTP or a socket, handed to the desk, answered in time.

Whether it is genuine and what it says is found out with the help of ``reading``.
"""
