"""Ready-made reasons of a no, as whoever builds a desk gives them."""

from __future__ import annotations

from typing import Any

from sayso.locales import ENGLISH
from sayso.questions.refusals import Refusals, deny_with_reason_choice


def test_ready_made_reasons_may_be_a_list() -> None:
    reasons: Any = ["Not today"]
    choice = deny_with_reason_choice("deny", ENGLISH)

    form = Refusals(reasons).applied_to(choice, ENGLISH).form

    assert form is not None
    assert form.fields[0].suggestions == ("Not today",)
