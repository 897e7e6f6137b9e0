"""How keys and channels are named, and how long they live.

All keys of one namespace carry the same hash tag, ``sayso:{<namespace>}:``,
and so live in one slot of a Redis Cluster: every decision is one script, and
the same script runs everywhere. The scripts are given this prefix as their
only key and name the others themselves. An installation that outgrows one
slot uses several namespaces.

==================  ======  ======================================================
``r:<question id>``  hash    a request: ``q`` its JSON, ``d`` deadline in ms by the
                             server's clock, ``s`` session key, ``a`` agent key, ``j``
                             project key, empty without a project, ``i`` inboxes to ring
                             (at most the 8 newest), ``n`` facts for the audit,
                             ``e`` its ending's JSON, ``t`` who recorded that,
                             ``f`` the ending that is foreseen, ``ft`` from when in ms,
                             ``v`` the version of the rules it was asked on, ``?`` for none,
                             ``ff`` facts on it, ``y`` the approval that was overruled,
                             ``c:<handle>`` one copy of its card,
                             ``m:<handle>`` the handles on that message, ``x:<handle>``
                             since when in ms it is closed and where it was sent to,
                             ``b`` and ``z`` when it was opened and ended in ms,
                             ``pk`` who used the approval, ``pa`` when in ms, ``po`` how that
                             went, ``pt`` when that was told, ``rb`` who took back what it
                             stored and ``rt`` when in ms,
                             ``u`` how many refused presses the audit has of it and
                             ``u:<kind> <actor>`` which, ``k`` the key it was asked under,
                             as ``key:…`` has it, ``w:<waiter>`` the inbox of a process that
                             waits for it under that key, ``w:`` that somebody will come back,
                             ``tk`` the key of the token it came with
``key:<session>:…``  string  the question id that was asked under a key of the session
``h:<handle>``       string  the question id that a card's handle belongs to
``due``              zset    ids of open requests by deadline
``open:<agent>``     zset    ids of open requests of an agent, or of a token
                             (``open:token.…``), by deadline
``limits``           hash    how many of those there may be: ``agent`` and ``token``, 0 for any
``jobs``             stream  the outbox; its consumer group is ``desks``
``desks``            zset    the desks at work, by when they are gone unless they say they stay
``book:<session>``   hash    rules of a session, an agent (``book:agent.…``) or a project
                             (``book:project.…``), each ``r:<rule id>``; ``v`` is the version
``floor``            hash    what the server denies to all agents: ``v`` its version, ``w`` the
                             floor's JSON
``rule:<rule id>``   hash    ``b`` the book it stands in, ``a`` facts for the audit, ``u``
                             uses, ``l`` the last one in ms, ``t`` who made that, ``x`` who
                             revoked it, ``q`` the request that stored it
``books``            zset    the books by the expiry of their last rule
``asked:<session>``  zset    the ids of the questions that it asked last, at most 20, by when in
                             microseconds
``once:<session>:…`` string  what may be had once and who took it
``audit``            stream  decisions: ``a`` and ``w`` facts, ``o`` their order in one ms
``activity:<agent>`` stream  what an agent brought about by itself, the newest 5,000 or so, in
                             the same fields
``agents``           zset    the agents that have such a stream, by its last entry in ms
``audited``          string  how many entries the audit was given
``noted:<token>``    string  a decision without a question that was noted, for one minute
``seen:<delivery>``  string  a callback that was here, for 10 minutes
``lease:<name>``     string  who holds a lease
``budget:<name>``    zset    the moments in ms at which messages went or will go
``moved:<chat>``     string  the new address of a chat
``state:<session>``  string  what policies keep for a session: JSON, ``texts`` by their names and
                             the ids of its last ``changes``
``draft:<key>``      string  what is half done, such as the answers to a form
``document:<key>``   string  a text that is changed by whoever knows what it says
``errands:<queue>``  zset    names of what is to be done, by when in ms
``branch:<branch>``  hash    a branch's log: ``v`` its epoch, ``n`` its last number, ``o`` how
                             many questions are open, ``b`` bytes of all its events, ``g`` how
                             many of them are gone at least; a request's ``l:<kind>`` says
                             what of it is written
``log:<branch>``     stream  the log's events, the newest 1,000 or so, at most 16 MiB: ``t``
                             type, ``e`` JSON, ``b`` bytes up to here
``bus:<topic>``      channel events; an ending is published on ``inbox:<name>``, and before
                             its own fields ``rung``: the version of the rules, and the ms
==================  ======  ======================================================

Nothing lives for ever: requests and ``due`` live until their deadline and a day, as does
``asked``, an ``open`` set until its last deadline and an hour, the limits as long as the floor,
requests whose cards were shown, and their
handles, until 30 days after it unless the bots are told otherwise, a ``key`` as long as its
request, documents as long as was said, errands a week after they were due or last looked at,
``jobs`` until the last deadline and a week, rules and books a day longer than their last rule,
decisions a year or as long as the workers are told and the activity of an agent 90 days after its
last entry, the events of a branch a week after the last of them and
its numbers 90 days, budgets an hour after the last message, new addresses and what was spent half
a year after the last question for them, the floor half a year after it was last laid.
"""

from __future__ import annotations

import json
import re
from dataclasses import astuple, dataclass
from functools import lru_cache

from sayso.calls import RunRef
from sayso.errors import ConfigError
from sayso.stores.session_state import session_key, short_key

DEFAULT_NAMESPACE = "sayso"
GROUP = "desks"

_NAMESPACE = re.compile(r"[A-Za-z0-9_.:-]{1,100}")


@dataclass(frozen=True, slots=True)
class Keys:
    """The names in one namespace.

    Raises:
        ConfigError: the namespace has other characters than letters, digits
            and ``_ . : -``.
    """

    namespace: str = DEFAULT_NAMESPACE

    def __post_init__(self) -> None:
        if not _NAMESPACE.fullmatch(self.namespace):
            raise ConfigError(
                f"the namespace {self.namespace[:40]!r} in the store's URL may hold letters, "
                "digits and _ . : - only"
            )

    @property
    def prefix(self) -> str:
        """What all keys begin with."""
        return f"sayso:{{{self.namespace}}}:"

    @property
    def nothing(self) -> str:
        """A key that never holds anything."""
        return f"{self.prefix}nothing"

    @property
    def jobs(self) -> str:
        """The outbox."""
        return f"{self.prefix}jobs"

    @property
    def due(self) -> str:
        """The open requests by deadline."""
        return f"{self.prefix}due"

    @property
    def desks(self) -> str:
        """The desks at work."""
        return f"{self.prefix}desks"

    @property
    def audit(self) -> str:
        """The decisions."""
        return f"{self.prefix}audit"

    @property
    def agents(self) -> str:
        """The agents that have activity."""
        return f"{self.prefix}agents"

    def activity(self, agent: str) -> str:
        """The activity of an agent, by its name in ``agents``."""
        return f"{self.prefix}activity:{agent}"

    def record(self, question_id: str) -> str:
        """One request."""
        return f"{self.prefix}r:{question_id}"

    def errands(self, queue: str) -> str:
        """What is to be done, by when."""
        return f"{self.prefix}errands:{queue}"

    def channel(self, topic: str) -> str:
        """The channel of a topic."""
        return f"{self.prefix}bus:{topic}"


@lru_cache(maxsize=1_024)
def book_keys(run: RunRef) -> tuple[str, str, str]:
    """The books that count for a run: its session's, its agent's, its project's."""
    return session_key(run), agent_key(run), project_key(run)


def branch_key(run: RunRef) -> str:
    """The branch's name in keys."""
    return short_key(json.dumps([run.agent_id, run.session_id, run.branch_id]))


def agent_key(run: RunRef) -> str:
    """The agent's name in keys; no session has such a name."""
    return f"agent.{short_key(run.agent_id)}"


def project_key(run: RunRef) -> str:
    """The name in keys of the agent's work on its project; empty where it names none."""
    if not run.project:
        return ""
    project = run.project if isinstance(run.project, str) else astuple(run.project)
    return f"project.{short_key(json.dumps([run.agent_id, project]))}"


def token_key(actor: str | None) -> str:
    """The name in keys of the token that a request came with; empty where it came with none."""
    return f"token.{short_key(actor)}" if actor else ""
