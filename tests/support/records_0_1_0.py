"""What 0.1.0 wrote: digests of the form that it had."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from sayso.calls import RunRef, ToolCall
from sayso.questions.permission import PermissionRequestEvent
from sayso.rules.rule import literal_rule
from sayso.testing import a_request


def digest_of_0_1_0(arguments: Mapping[str, Any]) -> str:
    """The digest that 0.1.0 computed of these arguments."""
    text = json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def request_of_0_1_0(call: ToolCall, run: RunRef) -> PermissionRequestEvent:
    """A request as 0.1.0 put it into the store, with what it suggested to remember."""
    request = a_request(tool=call.name, arguments=call.arguments, run=run)
    digest = digest_of_0_1_0(call.arguments)
    written = request.model_dump(mode="json", by_alias=True)
    written |= {
        "callId": call.call_id,
        "argumentsDigest": digest,
        "suggestedRules": [
            {"tool": rule.tool, "params": dict(rule.params), "argumentsDigest": digest}
            for rule in (literal_rule(call, digest),)
        ],
    }
    return PermissionRequestEvent.model_validate(written)
