"""The settings files of MCP clients: servers in them go behind the proxy, and out again.

What is particular to each client stands in ``clients``. Whatever else a file holds stays as it is
written, and a file that is not understood is left alone.
"""
