"""Tools that others made and many use: what their arguments are for, and which only look.

A tool is known by its name and the names of its arguments. What a tool declares of itself
counts before what stands here; ``rules`` says what the roles mean.
"""
