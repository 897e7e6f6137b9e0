"""Words for a call: what its tool's maker says of it, by templates over the arguments.

They are claims and data: shown beside the arguments, never instead of them, and nothing is
decided by them. What cannot be said is left out. Cards are made of them in ``questions``.
"""
