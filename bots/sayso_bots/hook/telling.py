"""How a call went that a person was asked about, told to the store after it ran."""

from __future__ import annotations

from datetime import timedelta

from sayso.calls import RunRef
from sayso.clock import utc_now
from sayso.stores.backend import Backend
from sayso_bots.hook.events import Ran

_STILL_USABLE = timedelta(days=1)


async def tell(ran: Ran, agent: str, backend: Backend) -> None:
    """Record it on the approval of the call, where there is one; its card says it then.

    Nothing of what the tool answered is told.
    """
    record = await backend.store.get_by_key(RunRef(agent, ran.session), ran.call_id)
    if record is None:
        return
    question_id, until = record.request.question_id, utc_now() + _STILL_USABLE
    use = await backend.store.consume_approval(question_id, ran.call_id, until=until)
    if use is not None:
        await backend.store.report_outcome(question_id, ran.went)
