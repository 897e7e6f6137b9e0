"""``sayso demo``: an agent, the bots and both platforms in one process, without any account.

The agent, its questions and the stage they play on belong here. How the platforms behave is the
playground's business; nothing that runs in earnest imports this.
"""

from sayso_bots.demo.start import run_demo

__all__ = ["run_demo"]
