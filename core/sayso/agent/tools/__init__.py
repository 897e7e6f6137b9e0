"""Functions as tools: a check in front of every call, and the way between Python's calls and ours.

What makes a function pass a gate, or a policy without one, belongs here. How a call is decided
does not: that is the gate's.
"""
