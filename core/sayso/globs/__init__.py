"""Globs as picomatch reads them with ``bash: true``, in linear time.

``glob`` is the front: compile, match, escape. ``dangers`` says as values what people may not expect
of a pattern, and ``words`` says it to them. Rules, and what they decide, are a room above.
"""
