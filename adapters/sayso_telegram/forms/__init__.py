"""A form as a dialogue of questions and replies, one message after another.

Where it stands, what comes next and how that is shown. A reply is read in ``reading`` and brought
in by ``incoming``.
"""
