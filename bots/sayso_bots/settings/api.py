"""``[api]`` of the settings: who may call the hosted API. Without a token it is off."""

from __future__ import annotations

from sayso.desk.routes import Routes
from sayso_bots.settings.credentials import holds_api_token
from sayso_bots.settings.sections import ApiSection, ApiTokenSection
from sayso_bots.settings.source import Source
from sayso_bots.settings.tokens import SHA256, TOKEN_NAME, ApiSettings, ApiToken


def read_api(source: Source) -> ApiSettings | None:
    """The hosted API, None where no token is configured. What is wrong is noted in the source."""
    if "api" not in source.sections:
        return None
    section = source.section(ApiSection, "api")
    written = source.written(("api", "token"), [])
    if not isinstance(written, list):
        source.problem(("api", "token"), "must be written with two brackets: [[api.token]]")
        written = []
    tokens = [
        token for number in range(len(written)) if (token := _token(source, number)) is not None
    ]
    _check_names(source, tokens)
    if section is None or not tokens:
        return None
    return ApiSettings(tuple(tokens), frozenset(section.origins), section.per_second)


def api_warnings(source: Source, api: ApiSettings | None) -> tuple[str, ...]:
    """What may be a mistake, although nothing is wrong."""
    if "api" not in source.sections or api is not None:
        return ()
    text = "[api] has no [[api.token]], so the hosted API is off; `sayso api token NAME` makes one"
    return (text,)


def check_api_approvers(source: Source, routes: Routes, api: ApiSettings | None) -> None:
    """See that every ``api:NAME`` of approvers and people is a token of the settings."""
    known = {token.actor for token in api.tokens} if api is not None else set()
    for person, accounts in routes.people.items():
        for account in sorted(accounts):
            if account.startswith("api:") and account not in known:
                source.problem(
                    ("people", person, "api"),
                    f"names {account.partition(':')[2]!r:.80}, but no [[api.token]] has this name",
                )
    for number, route in enumerate(routes.routes):
        for index, approver in enumerate(route.approvers):
            if approver.startswith("api:") and approver not in known:
                name = approver.partition(":")[2]
                source.problem(
                    ("route", number, "approvers", index),
                    f"names {approver!r:.80}, but no [[api.token]] has this name; "
                    f"`sayso api token {name:.60}` makes one",
                )


def _token(source: Source, number: int) -> ApiToken | None:
    path = ("api", "token", number)
    section = source.section(ApiTokenSection, *path)
    if section is None:
        return None
    good = not holds_api_token(section.name)  # that it does was said already
    if not TOKEN_NAME.fullmatch(section.name):
        text = "must be 1 to 64 letters, digits and _ . -; the actor is api:NAME"
        source.problem((*path, "name"), text)
        good = False
    if not SHA256.fullmatch(section.sha256):
        # Never quoted: it may be the token itself.
        text = (
            "is not the SHA-256 of a token in 64 hex digits; "
            "`sayso api token NAME` prints this line"
        )
        source.problem((*path, "sha256"), text)
        good = False
    if not section.agents or not all(section.agents):
        text = 'names no agent; add agents = ["deploy-*"], or ["*"] for all'
        source.problem((*path, "agents"), text)
        good = False
    if not good:
        return None
    return ApiToken(section.name, section.sha256, section.agents, section.answers_own)


def _check_names(source: Source, tokens: list[ApiToken]) -> None:
    """Tokens of one name are one caller, so they may do the same."""
    first: dict[str, ApiToken] = {}
    hashes: set[str] = set()
    for number, token in enumerate(tokens):
        other = first.setdefault(token.name, token)
        if (other.agents, other.answers_own) != (token.agents, token.answers_own):
            text = f"differs in agents or answers_own from another token named {token.name}"
            source.problem(
                ("api", "token", number), f"{text}; give it a name of its own, or the same values"
            )
        if token.sha256 in hashes:
            source.problem(("api", "token", number, "sha256"), "appears twice; remove one")
        hashes.add(token.sha256)
