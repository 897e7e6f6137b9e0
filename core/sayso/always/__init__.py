"""What *Always* may store: how wide, for how long, and in which words it is offered.

From a call to the rules that a card offers. Matching them later is the work of ``rules`` and
``policy``.
"""
