"""Amounts and moments as people write them, without a number that is not exact."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from sayso.formats import ENGLISH, Formats

# ISO 4217, list one: how many digits the minor unit has where they are not two.
_DIGITS = {
    **dict.fromkeys(
        re.findall(r"\S+", "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"), 0
    ),
    **dict.fromkeys(re.findall(r"\S+", "BHD IQD JOD KWD LYD OMR TND"), 3),
    **dict.fromkeys(re.findall(r"\S+", "CLF UYW"), 4),
}
_TWO_DIGITS = frozenset(
    re.findall(
        r"\S+",
        """
        AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD
        CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD
        GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD
        MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP
        PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS
        TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VES WST XCD YER ZAR ZMW ZWG
        """,
    )
)
_LARGEST = 10**18
_LATEST = 4_102_444_800  # the year 2100, in seconds


def money(amount: object, currency: object, *, formats: Formats = ENGLISH) -> str | None:
    """An amount in minor units as ``48,500.00 EUR``; None where it is none, or no currency."""
    if isinstance(amount, bool) or not isinstance(amount, int) or abs(amount) > _LARGEST:
        return None
    if not isinstance(currency, str):
        return None
    code = currency.upper()
    digits = 2 if code in _TWO_DIGITS else _DIGITS.get(code)
    if digits is None:
        return None
    sign = "-" if amount < 0 else ""
    whole, rest = divmod(abs(amount), 10**digits)
    return formats.marked(f"{sign}{whole:,}{f'.{rest:0{digits}}' if digits else ''}") + f" {code}"


def moment(at: object, *, formats: Formats = ENGLISH) -> str | None:
    """A time with its zone, or seconds since 1970, as ``2026-01-15 08:10 UTC``; else None."""
    try:
        if isinstance(at, str):
            read = datetime.fromisoformat(at)
            if read.tzinfo is None:
                return None
        elif isinstance(at, int) and not isinstance(at, bool) and 0 <= at <= _LATEST:
            read = datetime.fromtimestamp(at, UTC)
        else:
            return None
        return formats.time(read)
    except (ValueError, OverflowError):
        return None
