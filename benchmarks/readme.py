"""The README's table of speed, from what was measured last on the processors of each maker."""

from pathlib import Path

from benchmarks.peers import LEAN
from benchmarks.report import stored_results

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
BEGIN, END = "<!-- speed: written by make bench -->\n", "<!-- end of speed -->"
BESIDE = {"generation": "transformers", "training": LEAN}
NOT_MEASURED = "—"


def section(makers: dict[str, dict]) -> str:
    """A row for each work that is quoted, a column for each processor, and below what has to be known of one."""
    results = [(name, found[name]) for found in makers.values() for name in BESIDE if name in found]
    columns: dict[str, dict[tuple[str, str], str]] = {}
    for name, result in results:
        columns.setdefault(heading(result), {}).update(ratios(result["rows"], BESIDE[name]))
    works = list(dict.fromkeys(work for column in columns.values() for work in column))
    lines = [["work", "beside", *columns], ["---", "---", *["---:"] * len(columns)]]
    lines += [[*work, *(column.get(work, NOT_MEASURED) for column in columns.values())] for work in works]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return table + "".join(f"\n{result['note']}\n" for _, result in results if "note" in result)


def heading(result: dict) -> str:
    """The processor, how much of it was used, and when."""
    machine = result["machine"]
    threads = f"{machine['threads']} thread{'s' if machine['threads'] > 1 else ''}"
    return f"{machine['processor']}, {threads}, {result['date']}"


def ratios(rows: list[dict], peer: str) -> dict[tuple[str, str], str]:
    """What was measured, whether a target holds or not."""
    chosen = (row for row in rows if row["what"] == f"faster than {peer}")
    return {(row["work"], peer): f"{row['measured']['median']:.2f} ×" for row in chosen}


def write() -> None:
    """Raises: ValueError if the README has no place for the table."""
    text = README.read_text(encoding="utf8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"benchmarks: {README.name} lacks the lines {BEGIN.strip()} and {END}, between which it goes.")
    README.write_text(before + begin + section(stored_results(HERE)) + end + after, encoding="utf8")


if __name__ == "__main__":
    write()
