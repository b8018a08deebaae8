"""Draw the README's picture: error against bytes of flash, of `fit --flash` and of its rivals.

    python tests/peers/picture.py [--out std-adapter/docs/bytes.svg]

The numbers are those of the two tables "in bytes of flash" of std-adapter/docs/choosing.md, which edge.py and edge_classes.py
measure. Left, the geometric mean over the sets of the error over that of a line (ridge regression); right, the mean share of rows
in the wrong class, over the sets of which every family but the network fits into each number of bytes.
"""

import argparse
import re
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

DOCS = Path(__file__).resolve().parents[2] / "std-adapter/docs"
LEFT_OUT = {"instructions", "of the network in C"}
COLOURS = {"fit --flash": "#0b6e99"}
OTHERS = ["#b5651d", "#7a7a7a", "#4c8c4a", "#8c6bb1", "#c0504d", "#a08000"]


def table(text, heading):
    """The first table after a heading: a dictionary from (set, bytes) to errors by family."""
    lines = text[text.index(heading) :].split("\n\n")[1].splitlines()
    split = [[cell.strip(" `*") for cell in line.strip("|").split("|")] for line in lines]
    cells = {}
    for row in split[2:]:
        if re.fullmatch(r"[\d,]+", row[1]) and "," not in row[0]:
            values = {name: cell for name, cell in zip(split[0], row) if name not in LEFT_OUT | {"data", "bytes"}}
            cells[row[0], int(row[1].replace(",", ""))] = {
                name: float(cell.split("±")[0].strip(" *")) for name, cell in values.items() if cell
            }
    return cells


def curves(cells, families, mean):
    """The mean over the sets of each family at each number of bytes, where all sets have it."""
    sizes = sorted({size for _, size in cells})
    of = {}
    for family in families:
        for size in sizes:
            values = [errors.get(family) for (_, at), errors in cells.items() if at == size]
            if None not in values:
                of.setdefault(family, []).append((size, mean(values)))
    return of


def draw(axes, of, title, label):
    others = iter(OTHERS)
    for family, points in of.items():
        own = family in COLOURS
        axes.plot(
            *zip(*points),
            marker="o",
            color=COLOURS[family] if own else next(others),
            linewidth=2.4 if own else 1.2,
            label=family,
            zorder=3 if own else 2,
        )
    axes.set_xscale("log", base=2)
    axes.set_xticks([1024, 2048, 4096], ["1 KiB", "2 KiB", "4 KiB"])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_title(title, fontsize=10)
    axes.set_ylabel(label)
    axes.set_xlabel("flash of a Cortex-M4F: code and constants")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.legend(fontsize=7.5, frameon=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=DOCS / "bytes.svg")
    arguments = parser.parse_args()
    text = (DOCS / "choosing.md").read_text()
    numbers, classes = table(text, "**In bytes of flash.**"), table(text, "**Classes in bytes of flash.**")
    names = {family: None for errors in numbers.values() for family in errors}
    relative = {
        cell: {family: error / errors["line"] for family, error in errors.items()} for cell, errors in numbers.items()
    }
    left = curves(relative, [name for name in names if name != "line"], lambda x: float(np.exp(np.mean(np.log(x)))))
    wanted = list(next(iter(classes.values())))
    wanted = [family for family in wanted if "network" not in family] + ["network (emlearn)"]
    whole = {
        data
        for data, _ in classes
        if all(family in classes[data, size] for size in (1024, 2048, 4096) for family in wanted[:4])
    }
    right = curves({cell: errors for cell, errors in classes.items() if cell[0] in whole}, wanted, np.mean)
    matplotlib.rcParams.update({"svg.hashsalt": "bytes", "font.family": "sans-serif", "font.size": 9})
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    sets = len({data for data, _ in numbers})
    draw(axes[0], left, f"Numbers: {sets} sets", "error / error of a line")
    draw(axes[1], right, f"Classes: {len(whole)} sets", "rows in the wrong class, %")
    figure.savefig(arguments.out, metadata={"Date": None})
    for name, of in (("numbers", left), ("classes", right)):
        for family, points in of.items():
            print(name, family, *(f"{size}: {error:.3g}" for size, error in points), sep="\t")


if __name__ == "__main__":
    main()
