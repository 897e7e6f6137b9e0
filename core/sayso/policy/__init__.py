"""Policies: whether a call runs, does not run, or needs a person.

The decision and its words, rules in a fixed order, chains of policies, and what is denied whatever
else was said. What a rule matches is said in ``rules``; asking the person is the work of ``agent``.
"""
