"""The address of a branch, and what it says."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

from aiohttp import web
from yarl import URL

from sayso.calls import RunRef, new_id
from sayso_bots.api.problems import ApiProblem
from sayso_bots.api.requests import LONGEST_NAME

BRANCH = "/agents/{agentId:[^/]+}/sessions/{sessionId:[^/]+}/branches/{branchId:[^/]+}"
"""The path of a branch, under which its endpoints stand."""


def run_of(request: web.Request) -> RunRef:
    """The branch that a call is about, with a run of its own.

    Raises:
        ApiProblem: the address has no names, or none that can be kept.
    """
    agent_id, session_id, branch_id = (
        request.match_info[name] for name in ("agentId", "sessionId", "branchId")
    )
    if not all(map(_is_name, request.match_info.values())) or not _is_text(request.rel_url):
        detail = (
            f"ids in addresses have at most {LONGEST_NAME} printable characters and are not . or .."
        )
        raise ApiProblem(400, "InvalidAddress", detail)
    return RunRef(agent_id, session_id, branch_id, new_id())


def _is_name(name: str) -> bool:
    # Clients and proxies take . and .. for another address.
    return len(name) <= LONGEST_NAME and name.isprintable() and name not in (".", "..")


def _is_text(address: URL) -> bool:
    try:
        unquote_to_bytes(address.raw_path).decode()
    except UnicodeDecodeError:
        return False
    return True
