"""Store URLs: what they say, and errors that never quote a password."""

from __future__ import annotations

import pytest
from redis.exceptions import ResponseError

from sayso.errors import ConfigError
from sayso.stores.connect import open_store
from sayso.stores.redis.diagnostics import explain
from sayso.stores.redis.url import read_url

SECRET = "s3cret"


@pytest.mark.parametrize(
    ("url", "kind", "hosts", "how"),
    [
        ("redis://h", "server", (("h", 6379),), "tcp"),
        ("redis://u:s3cret@h:7/3", "server", (("h", 7),), "tcp"),
        ("redis://[::1]:7", "server", (("::1", 7),), "tcp"),
        ("rediss://h:7", "server", (("h", 7),), "tls"),
        ("unix:///run/redis.sock?db=2", "server", (), "unix"),
        ("redis+sentinel://a:1,b/main/2", "sentinel", (("a", 1), ("b", 26379)), "tcp"),
        ("rediss+sentinel://a:1/main", "sentinel", (("a", 1),), "tls"),
        ("redis+cluster://:s3cret@a:1,b", "cluster", (("a", 1), ("b", 6379)), "tcp"),
    ],
)
def test_a_url_says_where_the_store_is(
    url: str, kind: str, hosts: tuple[tuple[str, int], ...], how: str
) -> None:
    read = read_url(url)

    found = "unix" if read.path else "tls" if read.options.get("ssl") else "tcp"
    assert (read.kind, read.hosts, found) == (kind, hosts, how)
    assert SECRET not in repr(read)
    assert SECRET not in read.address


@pytest.mark.parametrize(
    "url",
    [
        "redis://u:p%40%2Fw@h/3",
        "redis+sentinel://u:p%40%2Fw@a,b/main/3",
        "redis+cluster://u:p%40%2Fw@a,b",
        "unix://u:p%40%2Fw@/s?db=3",
    ],
)
def test_a_login_is_percent_encoded(url: str) -> None:
    options = read_url(url).options

    assert (options["username"], options["password"]) == ("u", "p@/w")
    assert options.get("db", 3) == 3


def test_sentinels_have_a_login_of_their_own() -> None:
    read = read_url("redis+sentinel://:one@a/main?sentinel_username=me&sentinel_password=two")

    assert read.options["password"] == "one"
    assert read.sentinel_options["username"] == "me"
    assert read.sentinel_options["password"] == "two"
    assert read.secrets == ("one", "two")


def test_a_namespace_and_a_timeout_are_ours_and_not_told_to_the_client() -> None:
    read = read_url("redis://h?namespace=team.a&socket_timeout=0.5")

    assert read.keys.prefix == "sayso:{team.a}:"
    assert read.seconds == 0.5


@pytest.mark.parametrize(
    ("url", "fix"),
    [
        ("redis://:s3cret@h:port", "write redis://user:password@host:6379/0"),
        ("redis://:s3cret/x@h", "write redis://user:password@host:6379/0"),
        ("redis://h:port/0", "the port in the store's URL is not a number from 1 to 65535"),
        ("redis://:s3cret@h:70000", "the port in the store's URL"),
        ("redis://:p/s3cret@h", "special characters of the password percent-encoded"),
        ("redis+cluster://a,b:port", "the port in the store's URL"),
        ("redis://:s3cret@h?socket_timeout=soon", "write redis://"),
        ("redis://:s3cret@h?socket_timeout=0", "more than 0 seconds"),
        ("redis://:s3cret@h?namespace={}", "letters, digits"),
        ("redis://:s3cret@h?bogus=1", "an option that means nothing"),
        ("redis://:p4?s3cret=@h:6379", "percent-encode a \\? in the password"),
        ("redis://:12345#s3cret@h:6379", "special characters of the password percent-encoded"),
        ("redis://:s3cret@h?socket_timeout=inf", "more than 0 seconds, and end"),
        ("unix://", "write unix:///path/to/socket"),
        ("redis+sentinel://:s3cret@h", "write redis\\+sentinel://host:port/service/db"),
        ("redis+cluster://:s3cret@a,,b", "write host:port,host:port"),
        ("redis+cluster://:s3cret@a?db=3", "a cluster has the database 0 only"),
        ("redis+ring://:s3cret@a", "not known"),
    ],
)
def test_a_wrong_url_is_a_clear_error_without_the_password(url: str, fix: str) -> None:
    with pytest.raises(ConfigError, match=fix) as caught:
        read_url(url)

    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert SECRET not in str(caught.value.__cause__ or "")


@pytest.mark.parametrize(
    ("query", "is_read"),
    [
        ("ssl_cert_reqs=none", True),
        ("ssl_check_hostname=false&ssl_min_version=771", True),
        ("ssl_include_verify_flags=VERIFY_X509_STRICT", True),
        ("max_connections=9&health_check_interval=5&encoding=utf-8", True),
        ("ssl_cert_reqs=perhaps", False),
        ("ssl_min_version=1", False),
        ("ssl_include_verify_flags=VERIFY_NOTHING", False),
        ("ssl_bogus=1", False),
        ("retry_on_error=TimeoutError", False),
    ],
)
def test_options_of_tls_are_read_or_refused(query: str, is_read: bool) -> None:
    if is_read:
        assert read_url(f"rediss://h?{query}").options["ssl"]
    else:
        with pytest.raises(ConfigError):
            read_url(f"rediss://h?{query}")


def test_options_of_tls_mean_nothing_without_it_and_some_to_a_cluster() -> None:
    for url in ("redis://h?ssl_cert_reqs=none", "rediss+cluster://h?ssl_ca_path=/certificates"):
        with pytest.raises(ConfigError, match="an option that means nothing"):
            read_url(url)


async def test_a_store_is_opened_by_its_url(store_url: str) -> None:
    async with open_store(store_url) as backend:
        await backend.outbox.count_workers()


def test_what_a_server_says_is_told_in_one_line_without_the_password() -> None:
    said = ResponseError(
        "unknown command 'AUTH', with args beginning with: 's3cret'\nmore", status_code="ERR"
    )

    told = explain(read_url("redis://:s3cret@h:7"), said)

    assert told == (
        "Redis at h:7 refuses a command: unknown command 'AUTH', with args beginning with: '***'"
    )
