"""The tables of chapter 17 that hold stored numbers, as its page has them."""

from collections.abc import Sequence

from tests.claims.registry import Numbers


def answers_table(numbers: Numbers, cases: Sequence[str], steps: int) -> str:
    """Percent of right answers of all starts: a row for each contender, a column for each length and budget."""
    columns = [(case, times) for case in cases for times in (1, 4)]
    head = " | ".join(f"{case}, {steps * times:,} steps" for case, times in columns)
    rows = [f"| % right, three starts | {head} |", "|---" * (len(columns) + 1) + "|"]
    for who in dict.fromkeys(who for who, _, _ in numbers):
        cells = (", ".join(f"{100 * it:.0f}" for it in numbers[who, case, times]) for case, times in columns)
        rows.append(f"| {who} | {' | '.join(cells)} |")
    return "\n".join(rows)
