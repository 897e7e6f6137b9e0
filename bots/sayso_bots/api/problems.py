"""What the hosted API says when it does not do what it was asked: ``application/problem+json``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sayso.errors import SaysoError, SchemaError

PROBLEM_TYPE = "application/problem+json"
_INVALID = "InvalidEvent"


@dataclass(frozen=True, slots=True)
class Wrong:
    """One wrong field of a body: a JSON pointer to it, and why."""

    pointer: str
    detail: str


class ApiProblem(SaysoError):  # noqa: N818  what is sent is called a problem
    """The answer to a call that was refused or failed: a status, a code to act on, and words."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: Sequence[Wrong] = (),
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = tuple(errors)
        self.headers = dict(headers or {})
        self.more = more

    def within(self, *path: str | int) -> ApiProblem:
        """The same problem with a part of a body; its pointers begin with the way there."""
        where = pointer(*path)
        inner = self.errors or (Wrong("", self.detail),)
        errors = [Wrong(where + wrong.pointer, wrong.detail) for wrong in inner]
        return ApiProblem(
            self.status, self.code, self.detail, errors=errors, headers=self.headers, **self.more
        )

    @property
    def document(self) -> dict[str, Any]:
        """The problem as it is sent."""
        document: dict[str, Any] = {
            "type": f"urn:sayso:problem:{self.code}",
            "title": _words(self.code),
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        if self.errors:
            document["errors"] = [
                {"pointer": wrong.pointer, "detail": wrong.detail} for wrong in self.errors
            ]
        elif self.status == 409:
            # No field is wrong: some clients look for the reason here, by its name.
            document["errors"] = {self.code: [self.detail]}
        return {**document, **self.more}

    def response(self) -> web.Response:
        """The problem as an answer."""
        return web.Response(
            status=self.status,
            body=json.dumps(self.document, ensure_ascii=False).encode(),
            headers={**self.headers, "Content-Type": PROBLEM_TYPE, "Cache-Control": "no-store"},
        )


def invalid(*errors: Wrong) -> ApiProblem:
    """A body with wrong fields."""
    detail = "; ".join(f"{wrong.pointer or 'the body'}: {wrong.detail}" for wrong in errors[:3])
    return ApiProblem(422, _INVALID, detail, errors=errors)


def all_of(problems: Sequence[ApiProblem]) -> ApiProblem:
    """Problems with parts of one body as one: the first, and whatever is wrong in the same way."""
    first = problems[0]
    errors = [wrong for one in problems if one.code == first.code for wrong in one.errors]
    if first.code == _INVALID:
        return invalid(*errors)
    return ApiProblem(
        first.status, first.code, first.detail, errors=errors, headers=first.headers, **first.more
    )


def unreadable_fields(error: ValidationError, names: Mapping[str, str]) -> ApiProblem:
    """A body whose fields do not fit an event; ``names`` are those of its fields on the wire."""
    return invalid(
        *(_wrong(detail, names) for detail in error.errors(include_url=False, include_input=False))
    )


def pointer(*path: str | int) -> str:
    """The JSON pointer (RFC 6901) to a place in a body."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def _wrong(detail: ErrorDetails, names: Mapping[str, str]) -> Wrong:
    found = detail.get("ctx", {}).get("error")
    if isinstance(found, SchemaError) and found.path:
        # One of our own checks of the whole event: it names the field as Python does.
        first, *rest = found.path
        return Wrong(pointer(names.get(str(first), first), *rest), found.reason)
    return Wrong(pointer(*detail["loc"]), detail["msg"].removeprefix("Value error, "))


def _words(code: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", code).capitalize()
