"""Sayso between MCP clients and servers: a proxy that asks before a tool runs, and a server to ask.

Messages are read strictly and forwarded as they came. What a call may do is decided by a gate, as
everywhere; nothing in here can approve one.
"""
