"""Hooks of agents that are commands: their events read, asked about, and answered in their form.

A module an agent says how its events and answers look; how its settings are edited stands beside
it. Nothing in here decides, and nothing is ever answered with a yes but a verdict that says so.
"""
