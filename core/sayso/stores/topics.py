"""The names of the topics on the bus."""

from __future__ import annotations

import json
from functools import lru_cache

from sayso.calls import RunRef

BRANCH = "events:"
"""What the topics begin with on which the store tells what happens on a branch."""

INBOX = "inbox:"
"""What the topics begin with on which the store rings inboxes."""

NOTICES = "notices:"
"""What the topics begin with on which a branch is told what is stored nowhere."""

LOG_TOPIC = "branches"
"""The topic on which every log of the store rings when it grows."""

MEMBERS_TOPIC = "members"
"""The topic on which desks tell each other that members of groups have changed."""


@lru_cache(maxsize=1_024)
def branch_topic(run: RunRef) -> str:
    """The topic on which the store tells what is asked on a run's branch and how it ended."""
    return BRANCH + json.dumps([run.agent_id, run.session_id, run.branch_id])


def notice_topic(run: RunRef) -> str:
    """The topic on which the run's branch is told; at most once, and nothing depends on it."""
    return NOTICES + json.dumps([run.agent_id, run.session_id, run.branch_id])
