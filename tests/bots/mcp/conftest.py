"""A machine with settings, and a server of its own."""

from support.mcp_fixture import machine

__all__ = ["machine"]
