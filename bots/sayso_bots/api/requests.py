"""A body into a request: what the server knows is filled in, what contradicts it is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from sayso.actors import check_actor
from sayso.agent.timeouts import in_seconds
from sayso.always.widths import derive
from sayso.calls import RunRef, ToolCall, new_id
from sayso.digests import arguments_digest, as_json, is_digest_of, shown_and_digest
from sayso.durations import parse_duration
from sayso.errors import InvalidCallError
from sayso.events import UserInputRequest
from sayso.questions.permission import PermissionRequestEvent
from sayso_bots.api.bodies import Kind, kind_of, request_kinds, without_nulls
from sayso_bots.api.problems import Wrong, invalid, pointer, unreadable_fields

_ID = re.compile(r"[A-Za-z0-9_.:~-]{1,128}", re.ASCII)
# What need not be there, although an event has it.
FILLED = frozenset(
    {
        *("run", "sourceName", "callId", "arguments", "argumentsDigest", "expiresAt"),
        *("requestedBy", "filedBy"),
    }
)
# Four of them in an address, each character escaped as 12 bytes, fit into the line of 8,190 bytes
# that the web server reads.
LONGEST_NAME = 128
# How many characters these fields have at most.
LONGEST = {"functionName": 256, "sourceName": 256, "callId": 256, "description": 20_000}
_LONGEST_PATH, _LONGEST_STEP = 32, 256
_MOMENT: TypeAdapter[datetime] = TypeAdapter(AwareDatetime)


class Draft:
    """A request as a client wrote it, before it is known whether it was here already.

    Raises:
        ApiProblem: the body is not one of the kinds of request, or its id or its
            expiry makes no sense.
    """

    def __init__(self, given: Mapping[str, Any], run: RunRef, actor: str, now: datetime) -> None:
        self.kind: Kind[UserInputRequest] = kind_of(given, request_kinds())
        given = without_nulls(given, self.kind, FILLED)
        _check_lengths(given)
        names = set(self.kind.names.values())
        self._given = {name: value for name, value in given.items() if name in names}
        self._run = run
        self._actor = actor
        self._now = now
        self.has_id = self.kind.id_name in given
        self.question_id: str = _id(given, self.kind.id_name) if self.has_id else new_id()
        self._seconds = _seconds(given, now)

    def request(self, life: Callable[[UserInputRequest, float | None], float]) -> UserInputRequest:
        """The request, complete; ``life`` tells the seconds it has from those the body names.

        Raises:
            ApiProblem: a field is missing, does not fit, or contradicts what the server knows.
        """
        request = self._built({})
        seconds = life(request, self._seconds)
        return request.model_copy(update={"expires_at": self._now + timedelta(seconds=seconds)})

    def join(self, run: RunRef) -> None:
        """Be of this run, unless the body names one."""
        self._run = run

    def is_repeated_by(self, known: UserInputRequest) -> bool:
        """Whether the known request is what this one asks; when it expires does not matter.

        Raises:
            ApiProblem: as for ``request``.
        """
        if not isinstance(known, self.kind.model):
            return False
        stored = known.model_dump(mode="json", by_alias=True)
        again = self._built(stored)
        return again.model_copy(update={"expires_at": known.expires_at}) == known

    def asks_the_same_as(self, known: UserInputRequest) -> bool:
        """Whether it is what the known request asks, under another id of either or of its call.

        Raises:
            ApiProblem: as for ``request``.
        """
        if not isinstance(known, self.kind.model):
            return False
        stored = known.model_dump(mode="json", by_alias=True)
        again = self._built(stored)
        if isinstance(known, PermissionRequestEvent) and isinstance(again, PermissionRequestEvent):
            return _called(again) == _called(known) and again.askers == known.askers
        [name] = [name for name, wire in self.kind.names.items() if wire == self.kind.id_name]
        named = {name: known.question_id, "expires_at": known.expires_at}
        return again.model_copy(update=named) == known

    def _built(self, stored: Mapping[str, Any]) -> UserInputRequest:
        fields = {**self._defaults(stored), **self._given, **self._own(stored)}
        self._describe_call(fields, stored)
        try:
            return self.kind.model.model_validate(fields)
        except ValidationError as error:
            raise unreadable_fields(error, self.kind.names) from None
        except InvalidCallError as error:
            raise invalid(Wrong("", str(error))) from None

    def _defaults(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        defaults = {"sourceName": self._run.agent_id, "callId": stored.get("callId", new_id())}
        return {name: value for name, value in defaults.items() if name in self._names}

    def _own(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """What the server knows, whatever the body says; contradictions are refused."""
        if (filer := self._given.get("filedBy")) not in (None, self._actor):
            raise invalid(Wrong("/filedBy", f"is {self._actor} with this token, not {filer!r:.80}"))
        return {
            "type": self.kind.type_name,
            self.kind.id_name: self.question_id,
            "run": self._run_of(stored),
            "requestedBy": self._asker(),
            "filedBy": self._filer(stored),
            "expiresAt": self._now,
        }

    def _asker(self) -> str:
        """Who wants it, as the body says; the token itself where it does not say."""
        asker = self._given.get("requestedBy")
        if asker is None:
            return self._actor
        try:
            if not isinstance(asker, str):
                raise ValueError("must be a string")  # noqa: TRY004, TRY301
            return check_actor(asker)
        except ValueError as error:
            raise invalid(Wrong("/requestedBy", str(error))) from None

    def _filer(self, stored: Mapping[str, Any]) -> str | None:
        """Whose token it came with; requests from before that was written down do not say."""
        told = "filedBy" not in stored or stored["filedBy"] is not None
        return self._actor if told or stored.get("requestedBy") != self._actor else None

    def _run_of(self, stored: Mapping[str, Any]) -> RunRef:
        given = self._given.get("run", {})
        if not isinstance(given, dict):
            raise invalid(Wrong("/run", "must be an object"))
        known = {
            "agentId": self._run.agent_id,
            "sessionId": self._run.session_id,
            "branchId": self._run.branch_id,
        }
        wrong = [
            Wrong(pointer("run", name), f"contradicts the address, which says {value!r:.80}")
            for name, value in known.items()
            if given.get(name) not in (None, value)
        ]
        run_id = given.get("runId")
        if run_id is None:
            run_id = stored.get("run", {}).get("runId") or self._run.run_id
        if not isinstance(run_id, str) or len(run_id) > LONGEST_NAME:
            text = f"must be a string of at most {LONGEST_NAME} characters"
            wrong.append(Wrong("/run/runId", text))
        known_project = stored.get("run", {}).get("project", "")
        # A place is known where the agent runs, and nobody names it from here.
        own = known_project if isinstance(known_project, str) else ""
        project = given.get("project", own)
        if not isinstance(project, str) or len(project) > LONGEST_NAME:
            text = f"must be a string of at most {LONGEST_NAME} characters"
            wrong.append(Wrong("/run/project", text))
        if wrong:
            raise invalid(*wrong)
        return replace(self._run, run_id=run_id, project=project)

    def _describe_call(self, fields: dict[str, Any], stored: Mapping[str, Any]) -> None:
        """The digest of a call's arguments, and which rules fit it."""
        if not {"arguments", "argumentsDigest"} <= self._names:
            return
        arguments = fields.setdefault("arguments", {})
        if not isinstance(arguments, dict):
            fields["argumentsDigest"] = ""  # only the arguments are wrong
            return
        try:
            fields["arguments"], digest = shown_and_digest(arguments)
        except InvalidCallError as error:
            raise invalid(Wrong("/arguments", str(error))) from None
        if isinstance(original := fields.get("originalArguments"), dict):
            try:
                fields["originalArguments"] = as_json(original)
            except InvalidCallError as error:
                raise invalid(Wrong("/originalArguments", str(error))) from None
        given = fields.get("argumentsDigest")
        if given is not None and not (isinstance(given, str) and is_digest_of(given, arguments)):
            raise invalid(Wrong("/argumentsDigest", "is not the digest of the arguments"))
        known = stored.get("argumentsDigest")
        is_known = known is not None and is_digest_of(known, arguments)
        fields["argumentsDigest"] = known if is_known else digest
        if issubclass(self.kind.model, PermissionRequestEvent):
            fields["askedBecause"] = stored.get("askedBecause", "")  # a policy says it, no caller
            fields["suggestedRules"] = (
                stored["suggestedRules"] if "suggestedRules" in stored else _rules(fields, digest)
            )
            fields["denyRules"] = stored.get("denyRules", ())
            fields.pop("folder", None)  # what other doors write

    @property
    def _names(self) -> set[str]:
        return set(self.kind.names.values())


def _called(request: PermissionRequestEvent) -> tuple[str, str]:
    """What was called, before anything changed the arguments."""
    arguments = request.original_arguments
    digest = request.arguments_digest if arguments is None else arguments_digest(arguments)
    return request.function_name, digest


def _rules(fields: Mapping[str, Any], digest: str) -> Any:
    name, call_id = fields.get("functionName"), fields.get("callId")
    if not isinstance(name, str) or not isinstance(call_id, str):
        return ()  # reading the fields says what is wrong with them
    return derive(ToolCall(name, fields["arguments"], call_id), digest=digest)


def _check_lengths(given: Mapping[str, Any]) -> None:
    wrong = [
        Wrong(pointer(name), f"has at most {most} characters")
        for name, most in LONGEST.items()
        if isinstance(value := given.get(name), str) and len(value) > most
    ]
    if given.get("functionName") == "":
        wrong.append(Wrong("/functionName", "must not be empty"))
    if isinstance(path := given.get("path"), list):
        if len(path) > _LONGEST_PATH:
            wrong.append(Wrong("/path", f"has at most {_LONGEST_PATH} steps"))
        wrong += [
            Wrong(pointer("path", number), f"has at most {_LONGEST_STEP} characters")
            for number, step in enumerate(path)
            if isinstance(step, str) and len(step) > _LONGEST_STEP
        ]
    if wrong:
        raise invalid(*wrong)


def _id(given: Mapping[str, Any], name: str) -> str:
    written = given[name]
    if not isinstance(written, str) or not _ID.fullmatch(written):
        text = "must be a string of 1 to 128 letters, digits and _ . : ~ - ; leave it out for one"
        raise invalid(Wrong(pointer(name), text))
    return written


def _seconds(given: Mapping[str, Any], now: datetime) -> float | None:
    """How long the body lets the request live; None where it does not say."""
    timeout, moment = given.get("timeout"), given.get("expiresAt")
    if timeout is not None and moment is not None:
        raise invalid(Wrong("/timeout", "cannot be given together with expiresAt"))
    if timeout is not None:
        try:
            if isinstance(timeout, bool) or not isinstance(timeout, int | float | str):
                raise ValueError("must be seconds, or a string such as 10m")  # noqa: TRY004, TRY301
            if isinstance(timeout, str):
                return parse_duration(timeout).total_seconds()
            return in_seconds(timeout)
        except (ValueError, OverflowError) as error:
            raise invalid(Wrong("/timeout", str(error))) from None
    if moment is None:
        return None
    try:
        if not isinstance(moment, str):
            raise ValueError("must be a string")  # noqa: TRY004, TRY301
        return in_seconds((_MOMENT.validate_python(moment).astimezone(UTC) - now).total_seconds())
    except (ValueError, OverflowError):
        text = "must be a time with its zone, in the future and at most 30 days ahead"
        raise invalid(Wrong("/expiresAt", text)) from None
