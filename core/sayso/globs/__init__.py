"""Globs as picomatch reads them with ``bash: true``, in linear time.

``glob`` is the front: compile, match, escape. Everything else reads a pattern, matches with it or
says how dangerous or how costly it is. Rules, and what they decide, are a room above.
"""
