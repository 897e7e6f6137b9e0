"""A form asked for in a chat, question by question, for platforms without a dialog that holds it.

Where one person stands in a form, what each answer leads to, whose answers count and for how
long. No platform is named here: one that uses this room keeps the small promise in ``chat`` and
renders the views.
"""
