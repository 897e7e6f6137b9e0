"""The one table of secrets: what they are called, and what they look like.

The forms are facts that their issuers publish, or that kept detectors of secrets look for. Each
hides what it matches from the person who decides, so each is as narrow as its kind allows: none
takes white space, and none takes what a shell would act on.
"""

from __future__ import annotations

from dataclasses import dataclass

OWN_TOKEN = "token of our own"  # noqa: S105  what one is called

NAMES = (
    "pass",
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "passphrases",
    "passcode",
    "passcodes",
    "pwd",
    "pgpassword",
    "sshpass",
    "secret",
    "secrets",
    "secret key",
    "client secret",
    "token",
    "tokens",
    "access token",
    "auth token",
    "refresh token",
    "bearer",
    "jwt",
    "jwts",
    "otp",
    "cvv",
    "cvc",
    "sessionid",
    "session_id",
    "session-id",
    "sessionids",
    "session_ids",
    "session-ids",
    "jsessionid",
    "phpsessid",
    "dsn",
    "dsns",
    "connectionstring",
    "connection_string",
    "connection-string",
    "connectionstrings",
    "connection_strings",
    "connection-strings",
    "api key",
    "api keys",
    "auth key",
    "access key",
    "access keys",
    "account key",
    "client key",
    "database key",
    "db key",
    "encryption key",
    "master key",
    "private key",
    "private keys",
    "priv key",
    "service key",
    "session key",
    "shared key",
    "signing key",
    "storage key",
    "credential",
    "credentials",
    "authorization",
    "auth",
    "cookie",
    "cookies",
    "contrasena",
    "contraseña",
)
"""Words that a name consists of, or has among its words; a space is any or no separator.

Up to two digits behind one belong to it.
"""

COUNTS = (
    "max",
    "min",
    "num",
    "total",
    "input",
    "output",
    "prompt",
    "completion",
    "stop",
    "special",
)
"""Before *tokens* these say that pieces of a text are meant, which are no secret."""

ABOUT = (
    "name",
    "type",
    "url",
    "uri",
    "path",
    "file",
    "dir",
    "method",
    "mode",
    "policy",
    "length",
    "count",
    "limit",
    "ttl",
    "timeout",
    "scheme",
    "provider",
    "endpoint",
    "algorithm",
    "format",
    "version",
    "enabled",
    "required",
    "command",
    "cmd",
    "helper",
    "process",
    "program",
    "script",
    "hook",
    "plugin",
    "agent",
    "host",
    "server",
    "domain",
    "proxy",
    "port",
    "username",
    "role",
    "scope",
    "scopes",
    "permissions",
    "backend",
    "store",
    "service",
    "database",
    "used",
    "issuer",
    "audience",
    "expiry",
)
"""A name that ends in one of these says something about a secret, and is not one.

Some name what runs to get it (``--password-command=x``, ``credential.helper=!x``), or who is sent
it (``--auth-host=x``): people must see that.
"""

NOTHING = ("true", "false", "null", "none", "nil", "undefined", "yes", "no", "on", "off")
"""Words that stand where a secret could, and are none."""


@dataclass(frozen=True, slots=True)
class Form:
    """How one kind of secret is written: it ``begins`` so, and the regular expression is the rest.

    The group ``secret`` is what is hidden, or else all of it. ``before`` is
    what stands in front of the beginning and belongs to it. A form with a ``word`` begins where a
    word does. One in ``any_case`` is written in lower case here. ``check`` names what
    else must hold: see ``secrets``.
    """

    kind: str
    begins: str
    rest: str
    before: str = ""
    word: bool = True
    any_case: bool = False
    check: str = ""


_URL_SAFE = "[A-Za-z0-9_-]"
# The end of a form of a fixed length.
_END = "(?![A-Za-z0-9_-])"

FORMS = (
    Form(
        "password in an address",
        "://",
        r"(?P<secret>[A-Za-z0-9._~%+-]*:[A-Za-z0-9._~%+!*,=@-]+)@",
        word=False,
    ),
    Form(
        "key in an address",
        "://",
        r"(?P<secret>(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,200})@",
        word=False,
    ),
    Form(
        "bearer token",
        "bearer",
        r"\s(?P<secret>[a-z0-9_~+-][a-z0-9._~+=-]{19,})",
        any_case=True,
        word=False,
    ),
    Form(
        "basic authentication",
        "basic",
        r"[ \t]+(?P<secret>[a-z0-9+/]{6,2000}={0,2})",
        any_case=True,
        check="login in base64",
    ),
    Form(
        "authorization",
        "authorization",
        r"[\"']?:\s?[\"']?(?:token|apikey|api-key|key)[ \t](?P<secret>[a-z0-9._~+/=-]{8,})",
        any_case=True,
    ),
    Form(
        "login of curl",
        "-u",
        r"(?:ser)?[ =]?[\"']?[^\s\x00:\"']{1,80}:(?P<secret>[^\s\x00$`;&|<>(){}\"']{1,200})",
        word=False,
        check="login of curl",
    ),
    Form(
        "JSON Web Token",
        "eyJ",
        # A run of its own: or each beginning within one would be tried again.
        rf"(?<!{_URL_SAFE}eyJ){_URL_SAFE}{{8,}}\.{_URL_SAFE}{{8,}}\.{_URL_SAFE}+",
        word=False,
    ),
    Form(
        "token with its kind in front", "xox", r"[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}", word=False
    ),
    Form("token of an app's own connection", "xapp-", r"[A-Za-z0-9-]{8,}", word=False),
    Form("token of a workflow", "xwfp-", r"[A-Za-z0-9-]{8,}", word=False),
    Form(
        "webhook of a workspace",
        "/services/T",
        r"[A-Z0-9]{6,14}/B[A-Z0-9]{6,14}/(?P<secret>[A-Za-z0-9]{20,})",
        word=False,
    ),
    Form(
        "token behind the number of a bot",
        ":",
        r"[A-Za-z0-9_-]{30,}",
        before=r"(?<![0-9])[0-9]{6,12}",
        word=False,
    ),
    Form(
        "Discord bot token",
        ".",
        rf"{_URL_SAFE}{{6}}\.{_URL_SAFE}{{27,}}",
        before=r"(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{23,25}",
        word=False,
    ),
    Form("Discord webhook", "/api/webhooks/", r"[0-9]{15,20}/(?P<secret>[\w-]{40,})", word=False),
    Form("GitHub token", "gh", r"[pousr]_[A-Za-z0-9]{20,}"),
    Form("GitHub fine-grained token", "github_pat_", r"[A-Za-z0-9_]{20,}"),
    Form(
        "GitLab token",
        "gl",
        r"(?:pat|dt|ft|soat|rt|rtr|cbt|imt|ptt|agent|oas)-[A-Za-z0-9_-]{16,}",
    ),
    Form("GitLab runner token", "GR1348941", r"[A-Za-z0-9_-]{20,}"),
    Form("key of OpenAI and others", "sk-", r"[A-Za-z0-9_-]{16,}"),
    Form("Stripe secret key", "sk_", r"(?:live|test)_[A-Za-z0-9]{10,}"),
    Form("Stripe restricted key", "rk_", r"(?:live|test)_[A-Za-z0-9]{10,}"),
    Form("Stripe webhook secret", "whsec_", r"[A-Za-z0-9+/=]{20,}"),
    Form("AWS access key", "AKIA", r"[A-Z0-9]{16}\b"),
    Form("AWS temporary key", "ASIA", r"[A-Z0-9]{16}\b"),
    Form("AWS bearer token", "ABIA", r"[A-Z0-9]{16}\b"),
    Form("AWS context key", "ACCA", r"[A-Z0-9]{16}\b"),
    Form(
        "AWS secret key",
        "",
        r"(?<![A-Za-z0-9/+=_.~-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])",
        check="random",
    ),
    Form("Google API key", "AIza", r"[A-Za-z0-9_-]{30,}"),
    Form("Google access token", "ya29.", r"[A-Za-z0-9_-]{20,}"),
    Form("Google client secret", "GOCSPX-", r"[A-Za-z0-9_-]{20,}"),
    Form("Azure account key", "AccountKey=", r"(?P<secret>[A-Za-z0-9+/=]{40,})", word=False),
    Form("Azure access key", "AccessKey=", r"(?P<secret>[A-Za-z0-9+/=]{40,})", word=False),
    Form("Azure signature", "sig=", r"(?P<secret>[A-Za-z0-9%+/=]{40,})"),
    Form(
        "Azure client secret",
        "8Q~",
        r"[A-Za-z0-9_~.-]{31,34}",
        before=r"[A-Za-z0-9_~.-]{3}",
        word=False,
    ),
    Form("npm token", "npm_", rf"[A-Za-z0-9]{{36}}{_END}"),
    Form("PyPI token", "pypi-", r"[A-Za-z0-9_-]{50,}"),
    Form("SendGrid key", "SG.", rf"{_URL_SAFE}{{22}}\.{_URL_SAFE}{{43}}{_END}"),
    Form("Twilio account", "AC", r"[0-9a-f]{32}\b"),
    Form("Twilio key", "SK", r"[0-9a-f]{32}\b"),
    Form("Hugging Face token", "hf_", r"[A-Za-z0-9]{30,}"),
    Form("Hugging Face organisation token", "api_org_", r"[A-Za-z0-9]{30,}"),
    Form(
        "Mailchimp key", "-us", r"[0-9]{1,2}\b", before=r"(?<![0-9A-Za-z])[0-9a-z]{32}", word=False
    ),
    Form("Mailgun key", "key-", r"[0-9a-z]{32}\b"),
    Form("Square token", "sq0", r"(?:csp|atp)-[A-Za-z0-9_-]{22,}"),
    Form("Shopify token", "shp", r"(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b"),
    Form("DigitalOcean token", "do", r"[opr]_v1_[0-9a-f]{64}\b"),
    Form("Databricks token", "dapi", r"[0-9a-f]{32}\b"),
    Form("HashiCorp Vault token", "hv", r"[sbr]\.[A-Za-z0-9_-]{20,}"),
    Form("Terraform Cloud token", ".atlasv1.", r"[\w-]{60,}", before=r"\w{14}", word=False),
    Form("Atlassian token", "ATATT3", r"[A-Za-z0-9_=-]{30,}"),
    Form("Artifactory token", "AKC", r"[A-Za-z0-9]{60,}"),
    Form("Docker token", "dckr_pat_", r"[A-Za-z0-9_-]{20,}"),
    Form("RubyGems key", "rubygems_", r"[0-9a-f]{48}\b"),
    Form("Grafana token", "gls", r"a_[A-Za-z0-9_]{32,}"),
    Form("New Relic key", "NRAK-", r"[A-Z0-9]{27}\b"),
    Form("Postman key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}\b"),
    Form("Linear key", "lin_api_", r"[A-Za-z0-9]{30,}"),
    Form("Notion token", "ntn_", r"[A-Za-z0-9]{40,}"),
    Form("Supabase token", "sbp_", r"[0-9a-f]{40}\b"),
    Form("Groq key", "gsk_", r"[A-Za-z0-9]{40,}"),
    Form("Sentry token", "sntry", r"[su]_[A-Za-z0-9_=+/-]{30,}"),
    Form("age secret key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{50,}"),
    # 256 bits: see ``sayso api token``.
    Form(OWN_TOKEN, "sayso_", rf"{_URL_SAFE}{{43}}{_END}"),
    Form(
        "number of a card",
        "",
        r"(?<![0-9A-Za-z._-])[2-6][0-9]{3}([ -]?)[0-9]{4,6}\1[0-9]{4,5}(?:\1[0-9]{1,7})?"
        r"(?![0-9A-Za-z_-])",
        check="card",
    ),
)
