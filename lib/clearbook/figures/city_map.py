"""Points of a map and the polygon around them, which no weighted average leaves."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import Polygon
from numpy import ndarray

from clearbook.figures.plots import COLOURS, INK, axes_or_new

SHADE = "#d7e6f4"


def city_map(
    cities: Mapping[str, tuple[float, float]],
    answers: Mapping[str, Float[ndarray, "points 2"]],
    *,
    outside: Mapping[str, tuple[float, float]],
    ax: Axes | None = None,
) -> Axes:
    """Cities by (latitude, longitude) with their convex hull; ``answers`` are paths of mixtures, one a marker.

    ``outside`` are places that are no mixture, drawn as stars. A degree of longitude is drawn as long as it is in the
    middle of the map.
    """
    ax = axes_or_new(ax, (5.6, 4.6))
    points = np.array(list(cities.values()))
    ax.add_patch(Polygon(hull(points)[:, ::-1], fc=SHADE, ec=COLOURS[0], lw=1.6, zorder=0))
    for name, (latitude, longitude) in cities.items():
        ax.plot(longitude, latitude, "o", color=COLOURS[0], ms=8)
        _name(ax, name, latitude, longitude, left=bool(longitude < points[:, 1].mean()))
    for (name, path), marker, colour in zip(answers.items(), ("x", "+"), (COLOURS[1], COLOURS[4]), strict=False):
        ax.plot(path[:, 1], path[:, 0], marker, color=colour, ms=8, mew=2, label=name, ls=":", lw=1)
    for name, (latitude, longitude) in outside.items():
        ax.plot(longitude, latitude, "*", color=INK, ms=13)
        _name(ax, name, latitude, longitude)
    everything = np.array([*points, *outside.values()])
    (south, west), (north, east) = everything.min(axis=0), everything.max(axis=0)
    ax.set(xlim=(west - 6, east + 6), ylim=(south - 1.5, north + 3.5), xlabel="degrees east", ylabel="degrees north")
    ax.set_aspect(1 / np.cos(np.radians((south + north) / 2)))
    ax.legend(loc="upper left")
    return ax


def hull(points: Float[ndarray, "points 2"]) -> Float[ndarray, "corners 2"]:
    """Corners of the convex hull in order around it, by Andrew's chain."""
    ordered = sorted(map(tuple, points))
    chains = []
    for way in (ordered, ordered[::-1]):
        chain: list[tuple[float, float]] = []
        for point in way:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        chains += chain[:-1]
    return np.array(chains)


def _turn(a: tuple, b: tuple, c: tuple) -> float:
    """Twice the area of the triangle: above 0 where the way from a over b to c turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _name(ax: Axes, name: str, latitude: float, longitude: float, *, left: bool = False) -> None:
    """The name of a city beside its mark, on the side that lies outside the polygon."""
    offset, side = ((-7, 4), "right") if left else ((8, 3), "left")
    ax.annotate(name, (longitude, latitude), offset, textcoords="offset points", ha=side, color=INK)
