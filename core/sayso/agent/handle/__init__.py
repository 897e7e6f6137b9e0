"""The handle: gates for callers in any event loop, in any thread, or in none.

What lets a caller reach gates that live in another thread belongs here: that thread, waiting for
it, and the methods that callers see. How a call is decided and asked about does not: that is the
gate's.
"""
