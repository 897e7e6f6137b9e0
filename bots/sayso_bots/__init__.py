"""What an operator runs: settings, server, command line.

It puts the core, a store and the platforms together. What a question is and who may answer it is
decided in the core; an agent's process loads nothing of this.
"""
