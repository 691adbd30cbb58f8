"""When something was due or handed in: the forms that tables have, read as times that can be compared."""

import re
from datetime import UTC, datetime, timedelta

FORMS = (
    "a time such as 2026-11-02 23:59 is expected, with +01:00 or Z behind it where it is not of this computer's zone, "
    "or as Moodle writes it in English, Monday, 2 November 2026, 11:59 PM"
)
NONE = ("", "-", "–")  # what systems write where there is no time
DAY = re.compile(r"\d{4}-\d\d-\d\d")
ISO = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[T ]+(?P<time>\d\d?:\d\d(:\d\d(?:[.,]\d+)?)?)\s*(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?", re.I
)
MOODLES = ("%A, %d %B %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p", "%A, %d %B %Y, %H:%M", "%d %B %Y, %I:%M %p")


def parse_time(text: str, end_of_day: bool = False) -> datetime | None:
    """A time with its zone, which is this computer's where the text has none; of a day alone the beginning, or the
    end. None where the text says that there is none.

    Raises: ValueError, whose text says which forms are known.
    """
    text = text.strip()
    if text in NONE:
        return None
    try:
        if DAY.fullmatch(text):
            clock = "23:59:59" if end_of_day else "00:00:00"
            return datetime.fromisoformat(f"{text}T{clock}").astimezone()
        if found := ISO.fullmatch(text):
            return _iso(found)
    except ValueError:  # a month of 13 and the like
        raise ValueError(FORMS) from None
    for form in MOODLES:
        try:
            return datetime.strptime(re.sub(r"\s+", " ", text), form).astimezone()
        except ValueError:
            continue
    raise ValueError(FORMS)


def _iso(found: re.Match[str]) -> datetime:
    clock = found["time"].replace(",", ".").partition(".")[0]
    zone = (found["zone"] or "").upper().replace("UTC", "+00:00").replace("Z", "+00:00")
    hour, _, rest = clock.partition(":")
    return datetime.fromisoformat(f"{found['day']}T{hour:0>2}:{rest}{zone}").astimezone()


def in_words(time: datetime) -> str:
    """As pages and tables show it: to the minute, in this computer's zone and with it."""
    return f"{time.astimezone():%Y-%m-%d %H:%M %z}"


def span_in_words(span: timedelta) -> str:
    """The two largest parts of a span, rounded up to a minute."""
    minutes = -(-int(span.total_seconds()) // 60)
    parts = [(minutes // 1440, "day"), (minutes % 1440 // 60, "hour"), (minutes % 60, "minute")]
    told = [f"{n} {unit}{'' if n == 1 else 's'}" for n, unit in parts if n]
    return " ".join(told[:2]) or "0 minutes"


def of_seconds(seconds: float) -> datetime:
    """The time that a file system gives, to the second."""
    return datetime.fromtimestamp(int(seconds), UTC).astimezone()
