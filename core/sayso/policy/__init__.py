"""Policies: whether a call runs, does not run, or needs a person.

Built-in rules, chains of policies and what is denied whatever else was said. What a rule matches
stands in ``rules``; asking the person is the work of ``agent``.
"""
