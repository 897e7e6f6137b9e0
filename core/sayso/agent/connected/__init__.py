"""Gates for callers in any event loop, in any thread, or in none.

A thread with a loop of its own, waiting for it, and the gate that hands work to it belong here. How
a call is decided and asked about does not: that is the gate's.
"""
