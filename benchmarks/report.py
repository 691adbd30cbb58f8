"""What was measured as a table, as JSON and as a figure."""

import json
from dataclasses import asdict
from pathlib import Path

import matplotlib.pyplot as plt
from clearbook.figures import plots
from matplotlib.ticker import LogLocator, NullLocator

from benchmarks.harness import Report, Row

VERDICT = {True: "holds", False: "MISSED", None: ""}
HEADINGS = ("work", "what", "target", "measured", "quartiles", "")
MAKERS = ("AMD", "Intel", "Apple", "ARM")
RED, PLAIN = "\033[31m", "\033[0m"
MISSED_COLOUR, HELD_MARK, MISSED_MARK = "#b3261e", "o", "X"


def table(rows: list[Row], machine: dict, *, coloured: bool = False) -> str:
    """The processor, then columns of equal width for a terminal; what is missed says so, and is red if ``coloured``."""
    lines = [HEADINGS, *map(cells, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    columns = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    ]
    heading = f"{machine['processor']}, {machine['threads']} threads, torch {machine['torch']}"
    missed = [False, *(row.meets_target is False for row in rows)]
    body = (f"{RED}{line}{PLAIN}" if coloured and red else line for line, red in zip(columns, missed, strict=True))
    return "\n".join([heading, *body])


def cells(row: Row) -> tuple[str, ...]:
    m = row.measured
    target = "" if row.target is None else f"{'≤' if row.at_most else '≥'} {number(row.target)}{row.unit}"
    quartiles = "" if m.low == m.median == m.high else f"{number(m.low)} … {number(m.high)}"
    return row.work, row.what, target, f"{number(m.median)}{row.unit}", quartiles, VERDICT[row.meets_target]


def number(value: float) -> str:
    return f"{value:.3g}" if value < 1 else f"{value:.2f}"


def save(folder: Path, reports: dict[str, Report], facts: dict) -> Path:
    """Write results.svg and the file of this processor's maker; other benchmarks and makers stay as they were.

    Raises: OSError if the folder cannot be written.
    """
    path = folder / f"results-{maker(facts['machine']['processor'])}.json"
    results = json.loads(path.read_text(encoding="utf8")) if path.exists() else {}
    results |= {name: {**facts, **asdict(report)} for name, report in reports.items()}
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf8")
    draw(by_processor(stored_results(folder)), folder / "results.svg")
    return path


def maker(processor: str) -> str:
    """Who made a processor, as its name tells."""
    return next((name.lower() for name in MAKERS if name.lower() in processor.lower()), "other")


def stored_results(folder: Path) -> dict[str, dict]:
    """What was measured last, by maker and then by benchmark."""
    paths = sorted(folder.glob("results-*.json"))
    return {path.stem.removeprefix("results-"): json.loads(path.read_text(encoding="utf8")) for path in paths}


def by_processor(makers: dict[str, dict]) -> dict[str, list[dict]]:
    """The rows of every processor, benchmark by benchmark."""
    found: dict[str, list[dict]] = {}
    for benchmarks in makers.values():
        for name in sorted(benchmarks):
            found.setdefault(benchmarks[name]["machine"]["processor"], []).extend(benchmarks[name]["rows"])
    return found


def draw(rows: dict[str, list[dict]], path: Path) -> None:
    """For every processor each row that has a target above zero, divided by it: right of the line it holds."""
    targets = {processor: [row for row in own if row["target"]] for processor, own in rows.items()}
    labels = list(dict.fromkeys(label(row) for own in targets.values() for row in own))
    with plt.rc_context(plots.STYLE):
        size = (4.5 + 4.5 * len(targets), 0.3 * len(labels) + 1.4)
        figure, axes = plt.subplots(1, len(targets), figsize=size, sharex=True, sharey=True, squeeze=False)
        for ax, (processor, own) in zip(axes[0], targets.items(), strict=True):
            for row in own:
                draw_row(ax, labels.index(label(row)), row)
            ax.axvline(1.0, color=plots.INK, lw=1)
            ax.set_title(processor)
            ax.set(xscale="log")
            ax.margins(y=0.02)
            ax.xaxis.set_major_locator(LogLocator(base=2))
            ax.xaxis.set_major_formatter("{x:g} ×")
            ax.xaxis.set_minor_locator(NullLocator())
        axes[0, 0].set_yticks(range(len(labels)), labels, fontsize=8)
        axes[0, 0].invert_yaxis()
        figure.suptitle("● the target holds, ✖ it is missed; bars reach from quartile to quartile")
        figure.supxlabel("measured over target; the target over what was measured if it is an upper limit", fontsize=9)
        plt.savefig(path, metadata={"Date": None})
        plt.close()


def label(row: dict) -> str:
    return f"{row['work']}: {row['what']}"


def draw_row(ax, y: int, row: dict) -> None:
    low, middle, high = (score(row, row["measured"][key]) for key in ("low", "median", "high"))
    colour, mark = (plots.COLOURS[0], HELD_MARK) if middle >= 1 else (MISSED_COLOUR, MISSED_MARK)
    ax.plot([low, high], [y, y], color=colour, lw=2)
    ax.plot(middle, y, mark, color=colour, ms=6)


def score(row: dict, value: float) -> float:
    return row["target"] / value if row["at_most"] else value / row["target"]
