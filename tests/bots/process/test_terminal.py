"""What commands print in columns."""

from __future__ import annotations

from sayso_bots.process.terminal import table


def test_what_stands_in_a_cell_cannot_act_on_the_terminal() -> None:
    printed = table(["id", "tool"], [["q\x1b[2J", "bash\x1b[31m\nrm"]])

    assert printed.splitlines() == [
        "id            tool",
        "q⟨U+001B⟩[2J  bash⟨U+001B⟩[31m⏎rm",
    ]
