"""Plots with matplotlib, which is imported where one is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Columns in the plot of importances, and rows in that of landmarks: those of the program's page.
COLUMNS = 20
ROWS = 1_000


def axes(ax: Any) -> Any:
    """Return axes to draw in: those given, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as missing:
        raise ImportError("plots are drawn with matplotlib, which is not installed: pip install matplotlib") from missing
    return pyplot.subplots()[1]


def importance(ax: Any, names: list[str], means: NDArray[Any], deviations: NDArray[Any]) -> Any:
    """Draw the largest importances as bars, the largest on top."""
    ax = axes(ax)
    largest = np.argsort(-means, kind="stable")[:COLUMNS][::-1]
    places = np.arange(len(largest))
    ax.barh(places, 100 * means[largest], xerr=100 * deviations[largest])
    ax.set_yticks(places, [names[place] for place in largest])
    ax.set_xlabel("rise of the error where the column is permuted, %")
    return ax


def landmarks(ax: Any, rows: NDArray[Any], centres: NDArray[Any], shares: list[float]) -> Any:
    """Draw rows and landmarks in two kernel principal components."""
    ax = axes(ax)
    ax.scatter(*rows.T, s=8, alpha=0.5, label=f"{len(rows):,} rows")
    ax.scatter(*centres.T, s=30, marker="^", label=f"{len(centres):,} landmarks")
    for number, (share, name) in enumerate(zip(shares, (ax.set_xlabel, ax.set_ylabel), strict=True), start=1):
        name(f"component {number} ({100 * share:.1f} % of the variance)")
    ax.legend()
    return ax
