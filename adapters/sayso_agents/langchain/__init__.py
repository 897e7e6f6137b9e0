"""LangChain and LangGraph: people decide on the tool calls of an agent, while it runs or later.

``SaysoMiddleware`` stands in front of the tools. With ``suspend=True`` a run is put aside while
people are asked, and ``ainvoke``, or ``submit`` and ``resume``, take it up again. These also
answer the approvals of LangChain's own middleware, where it asks about each call by itself. What
any framework needs does not belong here, but in ``sayso_agents.calls``.
"""

from sayso_agents import missing

try:
    from sayso_agents.langchain.middleware import SaysoMiddleware
    from sayso_agents.langchain.suspended import ainvoke, resume, submit
except ImportError as error:
    raise missing("LangChain", error, "langchain>=1.4,<2", "langgraph>=1.2,<2") from error

__all__ = ["SaysoMiddleware", "ainvoke", "resume", "submit"]
