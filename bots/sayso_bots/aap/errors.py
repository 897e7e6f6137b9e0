"""What the provider says when it does not do what it was asked."""

from __future__ import annotations

import json
from collections.abc import Mapping

from aiohttp import web

from sayso.errors import SaysoError

_TYPES = {
    401: "authentication",
    403: "authorization",
    404: "not_found",
    409: "conflict",
    429: "rate_limit",
    500: "internal",
    503: "dependency",
}
_INVALID = "invalid_request"


class AapError(SaysoError):
    """The answer to a call that was refused or failed: a status, a code to act on, and words."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        param: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.headers = dict(headers or {})

    def response(self, request_id: str) -> web.Response:
        """The error as an answer; the id is that of the call it answers."""
        error = {
            "type": _TYPES.get(self.status, _INVALID),
            "code": self.code,
            "message": self.message,
            "request_id": request_id,
        }
        if self.param:
            error["param"] = self.param
        return json_response(json.dumps({"error": error}), self.status, self.headers)


def invalid(message: str, *, param: str = "", code: str = "invalid_request") -> AapError:
    """A call that makes no sense as it was sent."""
    return AapError(400, code, message, param=param)


def conflict(code: str, message: str) -> AapError:
    """A call that contradicts what was done before."""
    return AapError(409, code, message)


def too_many(seconds: int) -> AapError:
    """A call too many for now."""
    message = f"too many calls; come back in {seconds} s"
    return AapError(429, "too_many_calls", message, headers={"Retry-After": str(seconds)})


def json_response(text: str, status: int, headers: Mapping[str, str] | None = None) -> web.Response:
    """JSON; no cache keeps it."""
    return web.Response(
        status=status,
        body=text.encode(),
        headers={**(headers or {}), "Cache-Control": "no-store"},
        content_type="application/json",
    )
