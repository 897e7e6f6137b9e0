"""The side of the agent: the gate, and all that asks and waits behind it.

Whatever runs in the process of an agent belongs here. Nothing in here shows a card: an agent's
process loads no desk.
"""
