"""What was measured as a table, as JSON and as a figure."""

import json
from dataclasses import asdict
from pathlib import Path

import matplotlib.pyplot as plt
from clearformer import plots
from matplotlib.ticker import LogLocator, NullLocator

from benchmarks.harness import Report, Row

VERDICT = {True: "holds", False: "missed", None: ""}
HEADINGS = ("work", "what", "target", "measured", "quartiles", "")


def table(rows: list[Row]) -> str:
    """Columns of equal width for a terminal."""
    lines = [HEADINGS, *map(cells, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def cells(row: Row) -> tuple[str, ...]:
    m = row.measured
    target = "" if row.target is None else f"{'≤' if row.at_most else '≥'} {number(row.target)}{row.unit}"
    quartiles = "" if m.low == m.median == m.high else f"{number(m.low)} … {number(m.high)}"
    return row.work, row.what, target, f"{number(m.median)}{row.unit}", quartiles, VERDICT[row.holds]


def number(value: float) -> str:
    return f"{value:.3g}" if value < 1 else f"{value:.2f}"


def save(folder: Path, reports: dict[str, Report], facts: dict[str, object]) -> Path:
    """Write results.json and results.svg; what other benchmarks left there earlier stays.

    Raises: OSError if the folder cannot be written.
    """
    path = folder / "results.json"
    results = json.loads(path.read_text(encoding="utf8")) if path.exists() else {}
    results |= {name: {**facts, **asdict(report)} for name, report in reports.items()}
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf8")
    draw([row for name in sorted(results) for row in results[name]["rows"]], folder / "results.svg")
    return path


def draw(rows: list[dict], path: Path) -> None:
    """Every row that has a target above zero, divided by it: right of the line it holds."""
    rows = [row for row in rows if row["target"]]
    with plt.rc_context(plots.STYLE):
        _, ax = plt.subplots(figsize=(9.0, 0.3 * len(rows) + 1.2))
        for y, row in enumerate(rows):
            low, middle, high = sorted(score(row, row["measured"][key]) for key in ("low", "median", "high"))
            colour = plots.COLOURS[0] if score(row, row["measured"]["median"]) >= 1 else plots.COLOURS[1]
            ax.plot([low, high], [y, y], color=colour, lw=2)
            ax.plot(score(row, row["measured"]["median"]), y, "o" if middle >= 1 else "s", color=colour, ms=6)
        ax.axvline(1.0, color=plots.INK, lw=1)
        ax.set_yticks(range(len(rows)), [f"{row['work']}: {row['what']}" for row in rows], fontsize=8)
        ax.set(xscale="log", xlabel="measured over target; the target over what was measured if it is an upper limit")
        ax.set_title("Right of the line the target holds; bars reach from quartile to quartile")
        ax.margins(y=0.02)
        ax.invert_yaxis()
        ax.xaxis.set_major_locator(LogLocator(base=2))
        ax.xaxis.set_major_formatter("{x:g} ×")
        ax.xaxis.set_minor_locator(NullLocator())
        plt.savefig(path, metadata={"Date": None})
        plt.close()


def score(row: dict, value: float) -> float:
    return row["target"] / value if row["at_most"] else value / row["target"]
