"""Certificates for servers on this computer, made for one test."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest


def self_signed(folder: Path, *names: str) -> Path:
    """A folder with ``key`` and ``crt``: a certificate for these names that signs itself."""
    openssl = shutil.which("openssl")
    if openssl is None and not os.environ.get("CI"):
        pytest.skip("needs openssl")
    kind = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={names[0][3:]}"]
    name = ["-addext", f"subjectAltName={','.join(names)}"]
    files = ["-keyout", str(folder / "key"), "-out", str(folder / "crt")]
    subprocess.run(
        [openssl or "openssl", "req", *kind, *name, *files], check=True, capture_output=True
    )
    return folder


def serving_with(certificate: Path) -> ssl.SSLContext:
    """What a server with this certificate needs."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "crt", certificate / "key")
    return context


def trusting(certificate: Path) -> ssl.SSLContext:
    """What a client needs that trusts this certificate and no other."""
    return ssl.create_default_context(cafile=str(certificate / "crt"))
