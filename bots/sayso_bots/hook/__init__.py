"""Hooks of agents that are commands: their events read, asked about, and answered in their form.

What is particular to each agent stands in ``agents``; how its settings are edited stands beside
it. Nothing in here decides, and nothing is ever answered with a yes but a verdict that says so.
"""
