"""The tables of chapter 16 and its closer look at Muon that hold stored numbers, as their pages have them."""

from collections.abc import Sequence

from tests.claims.registry import Numbers


def stored_table(numbers: Numbers, head: str, budgets: dict[int, str], names: Sequence[str], case: str = "") -> str:
    """A row for each name, a column for each budget, and in a cell the numbers of all starts."""
    rows = [f"| {head} | {' | '.join(budgets.values())} |", "|---" * (len(budgets) + 1) + "|"]
    for name in names:
        cells = (", ".join(f"{it:.2f}" for it in numbers[name, case, times]) for times in budgets)
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def switches_table(numbers: Numbers) -> str:
    """Bits per character after 240 and after 960 steps, switch by switch."""
    names = dict.fromkeys(who for who, _, _ in numbers)
    return stored_table(numbers, "bits per character, three starts", {1: "240 steps", 4: "960 steps"}, list(names))


def optimizers_table(numbers: Numbers) -> str:
    """Bits per character of optimisers after 100 and after 400 steps."""
    budgets = {1: "100 steps", 4: "400 steps"}
    names = dict.fromkeys(who for who, _, _ in numbers)
    return stored_table(numbers, "bits per character, three starts", budgets, list(names))
