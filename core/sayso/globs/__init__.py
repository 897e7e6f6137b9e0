"""Globs as picomatch reads them with ``bash: true``, in linear time.

``glob`` is the front: compile, match, escape. Everything else reads a pattern, matches with it or
says how dangerous and how dear it is. Rules and what they are worth are a room above.
"""
