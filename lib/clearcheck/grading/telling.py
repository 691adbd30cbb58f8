"""What is told of the checks of a question, for every page and card: what was told once is only pointed to."""

from collections.abc import Iterable, Iterator

SAME_MISTAKE = "The same mistake as above."
SAME = "The same as above."


def points_of(points: float, most: float) -> str:
    return f"{points} of {most} point{'' if most == 1 else 's'}"


def told(checks: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """For the known mistake and the message of each check, either of which may be empty, what to tell of them."""
    before: set[str] = set()
    for mistake, message in checks:
        named = SAME_MISTAKE if mistake in before else mistake
        said = message if message not in before else "" if named else SAME
        yield named, said
        before |= {mistake, message} - {""}
