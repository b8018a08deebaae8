"""Words as target statistics: what a column for the mean of the target of each level changes in the error of `fit`.

Sets of `rivals.py` with words of three levels or more, a quarter held out, two splits, 200 landmarks at most. Beside one feature a level,
each column of words gets the mean of the standardised target (of classes that of each indicator) over the rows of the level, drawn towards 0
by ten rows: of a training row over the rows of other folds, or over all training rows; of a test row over all training rows. One line of JSON
a split goes to `words.jsonl` beside this script; lines that are there are not run again. `--page` prints the ratios to the error (of classes
the log-loss) with one feature a level alone.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import rivals

CELLS = Path(__file__).with_name("words.jsonl")
PLAIN, CASES = "levels", ["out of fold", "of all rows"]
PRIOR, FOLDS = 10, 5


def standardised(train, target, classes):
    if not classes:
        values = train[target].to_numpy(float)[:, None]
    else:
        labels = sorted(train[target].astype(str).unique())
        values = np.stack([(train[target].astype(str) == label).to_numpy(float) for label in labels], 1)
        values = values[:, 1:] if len(labels) == 2 else values
    return (values - values.mean(0)) / values.std(0)


def statistics(train, values, words, rows):
    """The statistics of these rows by those of the training rows: a column for each of words and targets."""
    columns = []
    for column in words:
        of_rows, level = rows[column].astype(str), train[column].astype(str)
        sums = {one: values[(level == one).to_numpy()].sum(0) / ((level == one).sum() + PRIOR) for one in level.unique()}
        columns.append(np.stack([sums.get(one, np.zeros(values.shape[1])) for one in of_rows]))
    return np.hstack(columns)


def beside(case, train, test, values, words):
    own = statistics(train, values, words, train)
    if case == CASES[0]:
        fold = np.random.default_rng(FOLDS).integers(0, FOLDS, len(train))
        for part in range(FOLDS):
            own[fold == part] = statistics(train[fold != part], values[fold != part], words, train[fold == part])
    of_test = statistics(train, values, words, test)
    add = lambda table, found: table.assign(**{f"statistic {j}": found[:, j] for j in range(found.shape[1])})  # noqa: E731
    return add(train, own), add(test, of_test)


def measure(program, name, split):
    classes = name in rivals.CLASSES
    frame, target, words = rivals.load(name)
    words = [column for column in words if frame[column].nunique() > 2]
    if not words:
        return None
    train, test = rivals.split(frame, target, split, classes)
    cell = {"set": name, "split": split, "rows": len(train), "words": {column: int(frame[column].nunique()) for column in words}}
    values = standardised(train, target, classes)
    for case in [PLAIN, *CASES]:
        tables = (train, test) if case == PLAIN else beside(case, train, test, values, words)
        found = rivals.own(program, ["--landmarks", "200"], *tables, target, classes, split)
        cell[case] = found.get("log_loss", found.get("error"))
    return cell


def page(cells):
    names = list(dict.fromkeys(cell["set"] for cell in cells))
    print("| | rows, levels | " + " | ".join(CASES) + " |\n" + "| --- " * (2 + len(CASES)) + "|")
    for name in names:
        own = [cell for cell in cells if cell["set"] == name]
        ratios = [np.exp(np.mean([np.log(cell[case] / cell[PLAIN]) for cell in own])) for case in CASES]
        levels = ", ".join(str(count) for count in own[0]["words"].values())
        print(f"| {name} | {own[0]['rows']}: {levels} | " + " | ".join(f"{ratio:.3f}" for ratio in ratios) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=rivals.ROOT / "target/release/dpp-nystrom", type=Path)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--sets", default="", help="only sets whose names contain one of these parts, separated by commas")
    parser.add_argument("--cells", default=CELLS, type=Path, help="the file of cells")
    parser.add_argument("--page", action="store_true", help="print the table of the cells that were run")
    arguments = parser.parse_args()
    cells = rivals.cells_of(arguments.cells)
    if arguments.page:
        return page(cells)
    done = {(cell["set"], cell["split"]) for cell in cells}
    for name in [*rivals.NUMBERS, *rivals.CLASSES]:
        for split in range(arguments.splits):
            if (name, split) in done or not any(part in name for part in arguments.sets.split(",")):
                continue
            if cell := measure(arguments.program.resolve(), name, split):
                print(json.dumps(cell), flush=True)
                with open(arguments.cells, "a") as file:
                    file.write(json.dumps(cell) + "\n")


if __name__ == "__main__":
    main()
