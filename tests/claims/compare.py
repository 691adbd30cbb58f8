"""What sentences compare: every run of one contender with every run of others."""

from tests.claims.registry import TIMES, Numbers


def below(
    numbers: Numbers, who: str, *others: str, by: float = 0.0, case: str = "", times: tuple[int, ...] = TIMES
) -> bool:
    """Whether the largest number of one contender is smaller, by so much, than any of the others, at each budget."""
    return all(
        max(numbers[who, case, each]) + by < min(min(numbers[other, case, each]) for other in others) for each in times
    )
