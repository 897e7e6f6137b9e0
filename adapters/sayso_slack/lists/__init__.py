"""What Slack shows of several questions: reminders, lists, and the App Home.

Functions from values to blocks, without a client. Cards have a room of their own.
"""
