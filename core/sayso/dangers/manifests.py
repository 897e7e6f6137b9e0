"""What is dangerous in YAML, JSON and plans: settings of containers, what a plan destroys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sayso.dangers.danger import Danger
from sayso.dangers.places import is_production

_KEY = r"[\"']?\s{0,8}[:=]\s{0,8}[\"']?"
_PRIVILEGED = re.compile(
    rf"(?:privileged|hostpid|hostnetwork|hostipc|privilegeescalation){_KEY}true\b"
    rf"|\b(?:pid|ipc|network_mode|userns_mode){_KEY}host\b"
    r"|docker\.sock\b|\bsys_(?:admin|ptrace|module)\b"
)
_ROOT_FOLDER = re.compile(rf"\bpath{_KEY}/[\"']?[ \t]{{0,8}}(?:$|[,}}])", re.MULTILINE)
_AS_ROOT = re.compile(rf"\brunasuser{_KEY}0\b|\brunasnonroot{_KEY}false\b")
_NO_REPLICAS = re.compile(rf"\breplicas{_KEY}0\b")
_NAMES_PLACE = re.compile(
    rf"(?:env|environment|namespace|context|cluster|host|hostname|stage|tier|branch|workspace)"
    rf"{_KEY}(?P<value>[\w.-]{{0,40}}?prod[\w.-]{{0,40}})"
)
_DESTROYS = re.compile(
    r"\bwill be destroyed\b|\bmust be replaced\b|\b[1-9][0-9]{0,6} to destroy\b"
    r"|\"actions\"\s{0,8}:\s{0,8}\[[^\]]{0,40}\"delete\"|\bforce_destroy\s{0,8}=\s{0,8}true\b"
    r"|\bprevent_destroy\s{0,8}=\s{0,8}false\b"
)
_OPEN_TO_ALL = re.compile(
    r"\b0\.0\.0\.0/0|(?<![\w:])::/0|\bpublic-read(?:-write)?\b|\ball(?:authenticated)?users\b"
    rf"|\bprincipal{_KEY}\*|\bcluster-admin\b|\badministratoraccess\b"
    rf"|\b(?:action|verbs|resources){_KEY}\[?\s{{0,8}}[\"']?\*"
)
_WIDE_HINTS = ("/0", "public-", "allusers", "allauth", "*", "cluster-admin", "administratoraccess")
_FORMS = (
    (("true", "host", "docker.sock", "sys_"), _PRIVILEGED, Danger.PRIVILEGED),
    (("hostpath",), _ROOT_FOLDER, Danger.PRIVILEGED),
    (("runas",), _AS_ROOT, Danger.ROOT),
    (("replicas",), _NO_REPLICAS, Danger.STOPS),
    (("destroy", "replaced", '"actions"'), _DESTROYS, Danger.DESTROYS),
    (_WIDE_HINTS, _OPEN_TO_ALL, Danger.PERMISSIONS),
)
_MOST_PLACES = 100
_PLACES = frozenset(
    re.findall(
        r"\S+",
        """
        env environment namespace context cluster host hostname stage tier branch workspace ref
        base database db project account profile region server target site instance service app
        """,
    )
)


def manifest_dangers(text: str) -> Iterator[Danger]:
    """The dangers that a text has if it is a manifest, a plan or a setting."""
    lowered = text.lower()
    for hints, form, danger in _FORMS:
        if any(hint in lowered for hint in hints) and form.search(lowered):
            yield danger
    if "prod" not in lowered:
        return
    for number, found in enumerate(_NAMES_PLACE.finditer(lowered)):
        if number == _MOST_PLACES:
            yield Danger.UNREAD
            return
        if is_production(found["value"]):
            yield Danger.PRODUCTION
            return


def values_dangers(name: str, value: Any) -> Iterator[Danger]:
    """The dangers of one value by its name: what is no text, and what a short text names."""
    key = name.rpartition(".")[2].lower()
    if value is True and key in _TRUE:
        yield _TRUE[key]
    elif value == 0 and not isinstance(value, bool) and key in ("replicas", "min_replicas"):
        yield Danger.STOPS
    elif isinstance(value, str) and (key in _SETTINGS.get(value.lower(), ())):
        yield _OF_SETTING[value.lower()]
    elif isinstance(value, str) and key in _PLACES and value.lower() == "live":
        yield Danger.PRODUCTION


_TRUE: Mapping[str, Danger] = {
    **dict.fromkeys(
        ("privileged", "hostpid", "hostnetwork", "hostipc", "allowprivilegeescalation"),
        Danger.PRIVILEGED,
    ),
    **dict.fromkeys(("force_push", "force_with_lease"), Danger.FORCE_PUSH),
    **dict.fromkeys(
        ("skip_checks", "no_verify", "auto_approve", "bypass", "admin_override", "force"),
        Danger.SKIPS_CHECKS,
    ),
    **dict.fromkeys(("dangerouslydisablesandbox",), Danger.SKIPS_CHECKS),
    **dict.fromkeys(("recursive_delete", "purge", "delete_data"), Danger.DELETES),
}
_SETTINGS: Mapping[str, tuple[str, ...]] = {
    "public": ("visibility", "acl", "access", "privacy"),
    "public-read": ("acl",),
    "owner": ("role",),
    "admin": ("role", "permission", "permissions"),
    "host": ("pid", "ipc", "network_mode", "userns_mode"),
    "delete": ("method", "http_method", "verb", "action", "operation"),
    "destroy": ("action", "operation", "command"),
    "danger-full-access": ("sandbox", "sandbox_permissions", "sandbox_mode"),
    "require_escalated": ("sandbox_permissions",),
}
_OF_SETTING: Mapping[str, Danger] = {
    "public": Danger.PUBLISHES,
    "public-read": Danger.PUBLISHES,
    "owner": Danger.PERMISSIONS,
    "admin": Danger.PERMISSIONS,
    "host": Danger.PRIVILEGED,
    "delete": Danger.DELETES,
    "destroy": Danger.DESTROYS,
    "danger-full-access": Danger.SKIPS_CHECKS,
    "require_escalated": Danger.SKIPS_CHECKS,
}
