"""How GPT-2 cuts a text into words, and the 256 printable characters in which its vocabulary spells bytes."""

import re
import sys
import unicodedata
from functools import cache

_SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # Unicode's white space; re's \s has more


@cache
def gpt2_word(*, single_digits: bool = False) -> re.Pattern:
    r"""GPT-2's pattern of a word: a short form such as ``'ll``, or letters, digits or signs with the space before them.

    Python's ``re`` lacks its classes: letters are ``\w`` without ``_`` and digits; digits such as ½ are listed.
    With ``single_digits`` each stands alone and takes no space along, as SmolLM cuts them.

    Source: Radford et al. 2019, section 2.2, and the published code.
    """
    more_digits = "".join(c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) in ("Nl", "No"))
    letter, digit = rf"[^\W\d_{more_digits}]", rf"[\d{more_digits}]"
    sign, space = rf"(?:_|[^\w{_SPACE}])", f"[{_SPACE}]"
    short_form = "'(?:s|t|re|ve|m|ll|d)"
    number, gap = (digit, f"{space}+(?={digit})|") if single_digits else (f" ?{digit}+", "")
    return re.compile(f"{short_form}| ?{letter}+|{number}| ?{sign}+|{gap}{space}+(?![^{_SPACE}])|{space}+")


@cache
def byte_characters() -> dict[str, int]:
    """The byte that each character stands for; printable ones themselves. Source: as above, ``bytes_to_unicode``."""
    printable = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(b): b for b in sorted(printable)} | {chr(256 + i): b for i, b in enumerate(others)}
