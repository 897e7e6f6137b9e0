"""Settings: ``sayso.toml`` and the environment, read once and checked into frozen values.

Every message about a wrong setting is made here. Nothing in here opens a connection.
"""
