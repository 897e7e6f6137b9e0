"""OpenAI Agents SDK: people decide on tool calls, inside the tool or while its run is interrupted.

``guard`` puts the question before a tool; arguments that a person changed are what runs.
``run`` answers the interruptions of tools with ``needs_approval``. ``submit`` and
``decided`` do so across restarts. What any framework needs does not belong here.
"""

from sayso_agents import missing

try:
    from sayso_agents.openai_agents.guarded import guard
    from sayso_agents.openai_agents.interrupted import answered, decided, run, submit
except ImportError as error:
    raise missing("OpenAI Agents", error, "openai-agents>=0.24,<1") from error

__all__ = ["answered", "decided", "guard", "run", "submit"]
