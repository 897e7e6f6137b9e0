"""``[[store.cell]]``: the stores that the store is made of."""

from __future__ import annotations

import pytest
from support.settings_text import ROUTE, SLACK, read

from sayso.stores.addresses import CellAddress
from sayso.written.document import SettingsError
from sayso_bots.settings.store import StoreSettings

TWO = """
[[store.cell]]
name = "00"
url = "redis://one:6379/0"

[[store.cell]]
name = "01"
url = "redis://two:6379/0"
namespace = "second"
"""


def test_cells_are_one_store_with_each_its_address() -> None:
    store = read(TWO + ROUTE).store

    assert store.name == "store.cell"
    assert not store.is_default
    assert store.cells == [
        CellAddress("00", "redis://one:6379/0?namespace=sayso"),
        CellAddress("01", "redis://two:6379/0?namespace=second"),
    ]
    assert store.shown == (
        "cell 00: redis://one:6379/0?namespace=sayso, cell 01: redis://two:6379/0?namespace=second"
    )


def test_cells_on_one_cluster_need_no_namespaces() -> None:
    text = TWO.replace('namespace = "second"\n', "").replace("two", "one")

    names = [cell.url.partition("namespace=")[2] for cell in read(text + ROUTE).store.cells]

    assert names == ["sayso", "sayso-01-322"]


def test_the_environment_names_all_cells_in_one_text() -> None:
    address = "redis://:secret@one/0?cell=00 rediss://:secret@two/0?cell=01&socket_timeout=5"
    store = read(TWO + ROUTE, {**SLACK, "SAYSO_STORE_URL": address}).store

    assert store.name == "SAYSO_STORE_URL"
    assert store.cells == [
        CellAddress("00", "redis://:secret@one/0?namespace=sayso"),
        CellAddress("01", "rediss://:secret@two/0?socket_timeout=5&namespace=sayso-01-322"),
    ]
    assert "secret" not in f"{store.shown} {store!r}"


def test_a_variable_with_one_address_takes_the_place_of_all_cells() -> None:
    store = read(TWO + ROUTE, {**SLACK, "SAYSO_STORE_URL": "redis://one"}).store

    assert store == StoreSettings("redis://one", "SAYSO_STORE_URL")
    assert store.cells == ()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('name = "01"', 'name = "1"', "two characters of 0-9 and a-z"),
        ('name = "01"', 'name = "AB"', "two characters of 0-9 and a-z"),
        ('name = "01"\n', "", r"line 6: store.cell 2 has no 'name'"),
        ('url = "redis://two:6379/0"\n', "", r"line 6: store.cell 2 has no 'url'"),
        ('name = "01"', 'name = "00"', "two cells of the store have the same name"),
        ('url = "redis://two:6379/0"', 'url = "two"', "is not the address of a store"),
        ('url = "redis://two:6379/0"', 'url = "redis://:pw@two"', "holds a password"),
        (
            'url = "redis://two:6379/0"',
            'url = "redis://two redis://three"',
            "is the address of one store",
        ),
        ('url = "redis://two:6379/0"', 'url = "memory://"', "make no store together"),
        ('namespace = "second"', 'namespace = "a b"', "is no namespace"),
        ('namespace = "second"', "weight = 2", "weight"),
        (
            'url = "redis://two:6379/0"\nnamespace = "second"',
            'url = "redis://one:6379/0"\nnamespace = "sayso"',
            "two cells of the store have the same store",
        ),
        (
            'url = "redis://two:6379/0"\nnamespace = "second"',
            'url = "redis://ONE"\nnamespace = "sayso"',
            "two cells of the store have the same store",
        ),
        (
            'url = "redis://two:6379/0"',
            'url = "redis://two:6379/0?namespace=other"',
            "cell 01 of the store names two namespaces",
        ),
    ],
)
def test_a_wrong_cell_is_one_clear_line(before: str, after: str, said: str) -> None:
    assert before in TWO

    with pytest.raises(SettingsError, match=said) as caught:
        read(TWO.replace(before, after) + ROUTE)

    assert ":pw@" not in str(caught.value)


def test_an_address_beside_cells_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"beside \[\[store.cell\]\]"):
        read('[store]\nurl = "redis://one"\n' + TWO + ROUTE)


@pytest.mark.parametrize("address", ["redis://one redis://two", "redis://one?cell=00 redis://two"])
def test_of_several_addresses_each_names_its_cell(address: str) -> None:
    with pytest.raises(SettingsError, match="each of several URLs of a store names its cell"):
        read(ROUTE, {**SLACK, "SAYSO_STORE_URL": address})


def test_addresses_with_commas_between_are_no_cell_and_show_no_password() -> None:
    address = "redis://:secret@one?cell=00,redis://:secret@two?cell=01"

    with pytest.raises(SettingsError, match="two characters of 0-9 and a-z") as caught:
        read(ROUTE, {**SLACK, "SAYSO_STORE_URL": address})

    assert "secret" not in str(caught.value)


def test_a_lone_table_is_told_from_a_list_of_cells() -> None:
    with pytest.raises(SettingsError, match=r"store.cell is one table; write \[\[store.cell\]\]"):
        read('[store.cell]\nname = "00"\nurl = "redis://:secret@one"\n' + ROUTE)


def test_more_cells_than_two_characters_can_serve_well_are_refused() -> None:
    def cells(count: int) -> str:
        return "".join(
            f'[[store.cell]]\nname = "{number:02d}"\nurl = "redis://r{number}"\n'
            for number in range(count)
        )

    assert len(read(cells(64) + ROUTE).store.cells) == 64
    with pytest.raises(SettingsError, match="the store has 65 cells; 64 are the most"):
        read(cells(65) + ROUTE)
