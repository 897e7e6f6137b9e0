"""Dangers: what a person must see of a call before they allow it, by reviewed tables.

``found`` looks through the arguments of a call by what they are: command lines, SQL, manifests,
addresses, paths. A danger is a type, and the words for it stand in ``words``. That none is found
means nothing, and nothing here says so. What decides about asking does not look here.
"""
