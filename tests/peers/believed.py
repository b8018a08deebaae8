"""The test error that `fit` prints beside the error on rows that it is not given, over splits of each set.

For each split: a table of the training rows, `fit --json`, `predict` on the other rows. The printed error should be within two of its
standard errors of the error on the other rows in nearly all splits, and their means close; its standard error is compared with the
deviation of the printed errors over the splits, in which the training rows overlap. A cell that is in the file of results is not run again.
Standard library only. Needs `../shared/data` or DPP_NYSTROM_DATA for all but the generated sets.
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("DPP_NYSTROM_DATA", ROOT / "../shared/data"))
# Rows to learn from, and to test on.
SETS = {
    "cal.housing": (2_000, 4_000),
    "bank8FM": (1_000, 3_000),
    "generated": (600, 3_000),
    "few": (150, 3_000),
    "tails": (800, 6_000),
    "spread": (1_000, 6_000),
    "kinks": (1_500, 6_000),
    "classes": (600, 3_000),
}
CLASSES = {"classes"}


def arff(name):
    path = DATA / f"{name}.arff"
    if not path.exists():
        return None
    lines = [line.strip() for line in path.read_text().splitlines()]
    start = next(i for i, line in enumerate(lines) if line.lower() == "@data")
    return [[cell.strip() for cell in line.rstrip(",").split(",")] for line in lines[start + 1 :] if line and not line.startswith("%")]


def friedman(x, noise):
    """Friedman's first function of the first five features."""
    return 10 * math.sin(math.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4] + noise.gauss(0, 1)


def tails(x, noise):
    """Two waves, with noise of Student's t of five degrees of freedom."""
    student = noise.gauss(0, 1) / math.sqrt(sum(noise.gauss(0, 1) ** 2 for _ in range(5)) / 5)
    return math.sin(6 * x[0]) + math.cos(4 * x[1] + 3 * x[2]) + 0.4 * student


def spread(x, noise):
    """A ratio, with noise whose deviation is that of one feature."""
    return math.log((0.1 + x[0] * x[1]) / (0.2 + x[2])) + x[3] * noise.gauss(0, 1)


def kinks(x, noise):
    """Two kinks and a step."""
    return abs(x[0] - 0.5) + max(x[1] + x[2] - 1, 0) + 0.3 * (x[3] > 0.6) + noise.gauss(0, 0.1)


GENERATED = {"generated": friedman, "few": friedman, "tails": tails, "spread": spread, "kinks": kinks}


def generated(name):
    """A function of some of eight features with noise, or three classes that overlap."""
    noise = random.Random(name)
    rows = []
    for _ in range(10_000 if name not in ("generated", "few", "classes") else 8_000):
        if name == "classes":
            kind = noise.randrange(3)
            rows.append([noise.gauss(1.5 * (kind == 0), 1), noise.gauss(1.5 * (kind == 1), 1), noise.gauss(0, 1), f"k{kind}"])
            continue
        x = [noise.random() for _ in range(8)]
        rows.append([*x, GENERATED[name](x, noise)])
    return [[str(cell) for cell in row] for row in rows]


def write(path, rows):
    names = [f"x{column}" for column in range(len(rows[0]) - 1)] + ["y"]
    path.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")


def cell(program, rows, name, split, options):
    learned, tested = SETS[name]
    order = random.Random(f"{name} {split}").sample(rows, learned + tested)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write(folder / "train.csv", order[:learned])
        write(folder / "test.csv", order[learned:])

        def run(*arguments):
            return subprocess.run([program, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout

        report = json.loads(run("fit", "train.csv", "--model", "m.dpp", "--json", *options))
        found = run("predict", "m.dpp", "test.csv").splitlines()[1:]
    test = report["test"]
    expected = [row[-1] for row in order[learned:]]
    if name in CLASSES:
        wrong = sum(line.split(",")[0] != own for line, own in zip(found, expected, strict=True)) / tested
        return {"printed": test["error_rate"], "se": test["error_rate_se"], "test": wrong, "rows": test["rows"]}
    squares = [(float(line.split(",")[0]) - float(own)) ** 2 for line, own in zip(found, expected, strict=True)]
    deviation = statistics.pstdev(float(row[-1]) for row in order[:learned])
    error = math.sqrt(statistics.fmean(squares)) / deviation
    return {"printed": test["nrmse"], "se": test["nrmse_se"], "test": error, "rows": test["rows"], "cv": report["cv_nrmse"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/dpp-nystrom")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--results", type=Path, default=ROOT / "target/believed.jsonl")
    parser.add_argument("options", nargs="*", help="options of fit, after --", default=["--landmarks", "16"])
    arguments = parser.parse_args()
    known = {}
    if arguments.results.exists():
        for line in arguments.results.read_text().splitlines():
            record = json.loads(line)
            known[record["set"], record["split"], " ".join(record["options"])] = record
    program = arguments.program.resolve()
    print("| set | rows left out | within 2 standard errors | mean printed | mean of tests | ratio | mean standard error | deviation of printed |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in arguments.sets:
        rows = generated(name) if name in GENERATED or name in CLASSES else arff(name)
        if rows is None:
            print(f"skipped: {name}: no {name}.arff in DPP_NYSTROM_DATA or in ../shared/data", file=sys.stderr)
            continue
        cells = []
        for split in range(arguments.splits):
            key = (name, split, " ".join(arguments.options))
            if key not in known:
                known[key] = {"set": name, "split": split, "options": arguments.options}
                known[key] |= cell(program, rows, name, split, arguments.options)
                with arguments.results.open("a") as out:
                    out.write(json.dumps(known[key]) + "\n")
            cells.append(known[key])
        within = sum(abs(one["printed"] - one["test"]) <= 2 * one["se"] for one in cells)
        printed, test, error = (statistics.fmean(one[key] for one in cells) for key in ("printed", "test", "se"))
        spread = statistics.stdev(one["printed"] for one in cells)
        numbers = f"{printed:.4f} | {test:.4f} | {printed / test:.3f} | {error:.4f} | {spread:.4f}"
        print(f"| {name} | {cells[0]['rows']} | {within} of {len(cells)} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
