"""What happens on a branch, as a stream: from the log, from the beginning or from now on.

For readers outside such as the hosted API. Agents that wait for their own answers use the inbox
of ``stores``.
"""
