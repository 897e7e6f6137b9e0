"""``sayso demo``: an agent, the bots and both platforms in one process, without any account."""

from sayso_bots.demo.start import run_demo

__all__ = ["run_demo"]
