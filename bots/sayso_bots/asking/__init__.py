"""One way to ask for all integrations: policy, request, wait, idempotency key, reconnect.

Here is what hooks, MCP, editors and the command line have in common; none of their protocols is.
"""
