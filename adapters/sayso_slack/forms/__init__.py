"""A form as a dialog of Slack: its inputs, and where it stands.

How it is put to a person; what a person sent is read in ``incoming``.
"""
