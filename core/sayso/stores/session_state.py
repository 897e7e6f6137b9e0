"""State of a session in the key-value store: what it spent once, and what its policies keep."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from sayso.calls import RunRef, new_id
from sayso.errors import MAX_STATE_TRIES, StateConflictError
from sayso.stores.protocols.key_value import KeyValueStore

MAX_STATE_NAMES = 64
"""So many names at most a session keeps texts under."""

MAX_STATE_BYTES = 16_384
"""So many bytes at most, names and texts together."""

_STATE_SECONDS = 90 * 86_400
# Once spent stays spent for longer than any state that says so is kept.
_SPENT_SECONDS = 2 * _STATE_SECONDS
_MAX_CHANGES = 16


@dataclass(frozen=True, slots=True)
class _State:
    """The texts of a session by their names, and the ids of its last changes."""

    texts: dict[str, str] = field(default_factory=dict)
    changes: tuple[str, ...] = ()


_STATE: TypeAdapter[_State] = TypeAdapter(_State)


class SessionState:
    """State that all branches and processes of a session share.

    Every method raises StoreUnreachableError as KeyValueStore does.
    """

    def __init__(self, key_value: KeyValueStore) -> None:
        self._key_value = key_value

    async def spend(self, run: RunRef, key: str) -> bool:
        """Take what the session has once: True for the first caller and for no other.

        It stays spent for half a year after a caller last asked for it.
        """
        name = f"once:{session_key(run)}:{short_key(key)}"
        spent = await self._key_value.get(name)
        mine = new_id()
        is_first = await self._key_value.compare_and_set(
            name, spent, spent or mine, seconds=_SPENT_SECONDS
        )
        return is_first and spent is None

    async def recall(self, run: RunRef, name: str) -> str | None:
        """Return what the session keeps under the name, None where it keeps nothing there."""
        state, _ = await self._read(run)
        return state.texts.get(name)

    async def swap(self, run: RunRef, name: str, before: str | None, after: str | None) -> bool:
        """Keep a text in the place of another one; None stands for no text.

        One atomic step: False and nothing where ``before`` is not what is kept. It is kept
        until 90 days after the session's last change.

        Raises:
            StateConflictError: the session would keep more than ``MAX_STATE_NAMES`` or
                ``MAX_STATE_BYTES``, or others kept changing it.
        """
        change = new_id()
        for _ in range(MAX_STATE_TRIES):
            state, stored = await self._read(run)
            # Another change came between a lost reply to ours and its repetition.
            if change in state.changes:
                return True
            if state.texts.get(name) != before:
                return False
            texts = {key: text for key, text in state.texts.items() if key != name}
            if after is not None:
                texts[name] = after
                _check_size(name, texts)
            changed = _State(texts, (*state.changes, change)[-_MAX_CHANGES:])
            text = _STATE.dump_json(changed).decode()
            key = f"state:{session_key(run)}"
            if await self._key_value.compare_and_set(key, stored, text, seconds=_STATE_SECONDS):
                return True
        raise StateConflictError(name)

    async def _read(self, run: RunRef) -> tuple[_State, str | None]:
        stored = await self._key_value.get(f"state:{session_key(run)}")
        return (_State() if stored is None else _STATE.validate_json(stored)), stored


def session_key(run: RunRef) -> str:
    """Name the session in keys: short whatever the ids are, and the same in every process."""
    return short_key(f"{len(run.agent_id)}:{run.agent_id}{run.session_id}")


def short_key(key: str) -> str:
    """Name a text in keys by its hash: never the text itself."""
    digest = hashlib.blake2b(key.encode(), digest_size=15)
    return urlsafe_b64encode(digest.digest()).decode()


def _check_size(name: str, texts: dict[str, str]) -> None:
    size = sum(len(part.encode()) for pair in texts.items() for part in pair)
    if len(texts) > MAX_STATE_NAMES or size > MAX_STATE_BYTES:
        raise StateConflictError(name, is_full=True)
