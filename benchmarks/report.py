"""What was measured as a table, as JSON and as a figure."""

import json
from dataclasses import asdict
from pathlib import Path

import matplotlib.pyplot as plt
from clearbook.figures import plots
from matplotlib.ticker import LogLocator, NullLocator

from benchmarks.harness import Report, Row

OTHERS = "other processors"
VERDICT = {True: "holds", False: "missed", None: ""}
HEADINGS = ("work", "what", "target", "measured", "quartiles", "")


def table(rows: list[Row], machine: dict) -> str:
    """The processor, then columns of equal width for a terminal."""
    lines = [HEADINGS, *map(cells, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    columns = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
    heading = f"{machine['processor']}, {machine['threads']} threads, torch {machine['torch']}"
    return "\n".join([heading, *(line.rstrip() for line in columns)])


def cells(row: Row) -> tuple[str, ...]:
    m = row.measured
    target = "" if row.target is None else f"{'≤' if row.at_most else '≥'} {number(row.target)}{row.unit}"
    quartiles = "" if m.low == m.median == m.high else f"{number(m.low)} … {number(m.high)}"
    return row.work, row.what, target, f"{number(m.median)}{row.unit}", quartiles, VERDICT[row.holds]


def number(value: float) -> str:
    return f"{value:.3g}" if value < 1 else f"{value:.2f}"


def save(folder: Path, reports: dict[str, Report], facts: dict) -> Path:
    """Write results.json and results.svg; what other benchmarks and other processors left there earlier stays.

    Raises: OSError if the folder cannot be written.
    """
    path = folder / "results.json"
    results = json.loads(path.read_text(encoding="utf8")) if path.exists() else {}
    for name, report in reports.items():
        results = merged(results, name, {**facts, **asdict(report)})
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf8")
    draw(by_processor(results), folder / "results.svg")
    return path


def merged(results: dict, name: str, result: dict) -> dict:
    """The last result of every benchmark stands by its name, older ones of other processors by theirs."""
    others = {processor: dict(found) for processor, found in results.get(OTHERS, {}).items()}
    before = results.get(name)
    if before is not None and processor_of(before) != processor_of(result):
        others.setdefault(processor_of(before), {})[name] = before
    others.get(processor_of(result), {}).pop(name, None)
    kept = {key: value for key, value in results.items() if key != OTHERS} | {name: result}
    return kept | {OTHERS: {processor: found for processor, found in others.items() if found}}


def processor_of(result: dict) -> str:
    return result["machine"]["processor"]


def by_processor(results: dict) -> dict[str, list[dict]]:
    """The rows of every processor, benchmark by benchmark."""
    found: dict[str, list[dict]] = {}
    for name in sorted(results.keys() - {OTHERS}):
        found.setdefault(processor_of(results[name]), []).extend(results[name]["rows"])
    for processor, benchmarks in results.get(OTHERS, {}).items():
        for name in sorted(benchmarks):
            found.setdefault(processor, []).extend(benchmarks[name]["rows"])
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
        figure.suptitle("Right of the line the target holds; bars reach from quartile to quartile")
        figure.supxlabel("measured over target; the target over what was measured if it is an upper limit", fontsize=9)
        plt.savefig(path, metadata={"Date": None})
        plt.close()


def label(row: dict) -> str:
    return f"{row['work']}: {row['what']}"


def draw_row(ax, y: int, row: dict) -> None:
    low, middle, high = sorted(score(row, row["measured"][key]) for key in ("low", "median", "high"))
    colour = plots.COLOURS[0] if score(row, row["measured"]["median"]) >= 1 else plots.COLOURS[1]
    ax.plot([low, high], [y, y], color=colour, lw=2)
    ax.plot(score(row, row["measured"]["median"]), y, "o" if middle >= 1 else "s", color=colour, ms=6)


def score(row: dict, value: float) -> float:
    return row["target"] / value if row["at_most"] else value / row["target"]
