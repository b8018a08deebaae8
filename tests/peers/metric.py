"""Test error of `fit` without options, and of `fit --metric auto` beside `--metric one`, boosted trees and small networks.

A number of rows to learn from and of others to test, standardised targets, means over splits. Networks have 8, 16 or 32 units and three
seeds, of which the best on a fifth of the training rows, that it has not seen, is trained on all. Boosted trees are those of
scikit-learn: 500 rounds at 0.05, and 300 of 31 leaves at 0.1.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from edge import rooted, write
from fit import ROOT, SETS, table
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.neural_network import MLPRegressor

TREES = {"500 rounds": dict(max_iter=500, learning_rate=0.05), "300 x 31": dict(max_iter=300)}


def own(dpp_nystrom, folder, test, *options):
    fit = [dpp_nystrom, "fit", "train.csv", "--model", "model.dpp", *options]
    subprocess.run(fit, cwd=folder, check=True, capture_output=True)
    predict = [dpp_nystrom, "predict", "model.dpp", "test.csv", "--out", "predictions.csv"]
    subprocess.run(predict, cwd=folder, check=True, capture_output=True)
    return rooted(np.loadtxt(folder / "predictions.csv", skiprows=1), test[1])


def network(train, test):
    (rows, targets), (new, expected) = train, test
    mean, deviation = rows.mean(0), rows.std(0)
    scale = np.divide(1.0, deviation, out=np.ones_like(deviation), where=deviation > 0)
    rows, new = (rows - mean) * scale, (new - mean) * scale
    learned, held = np.split(np.random.default_rng(0).permutation(len(rows)), [4 * len(rows) // 5])

    def fitted(size, which):
        hidden, seed = size
        model = MLPRegressor(hidden_layer_sizes=(hidden,), max_iter=600, early_stopping=True, random_state=seed, n_iter_no_change=20)
        return model.fit(rows[which], targets[which])

    sizes = [(hidden, seed) for hidden in (8, 16, 32) for seed in range(3)]
    best = min(sizes, key=lambda size: rooted(fitted(size, learned).predict(rows[held]), targets[held]))
    return rooted(fitted(best, slice(None)).predict(new), expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/dpp-nystrom")
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=4_000, help="of which a quarter is for the test")
    parser.add_argument("--landmarks", type=int, nargs="*", default=[16, 32, 100, 500])
    parser.add_argument("--without-network", action="store_true", help="train no network")
    arguments = parser.parse_args()
    counts = arguments.landmarks
    names = [f"{metric} {c}" for c in counts for metric in ("one", "auto")] + ["fit", *TREES] + ["network"] * (not arguments.without_network)
    print(f"| data | {' | '.join(names)} | {' | '.join(f'auto/one {c}' for c in counts)} |")
    print("| --- " * (len(names) + len(counts) + 1) + "|", flush=True)
    ratios = []
    for name in arguments.sets:
        rows, targets = table(name)
        errors = []
        for split in range(arguments.splits):
            order = np.random.default_rng(split).permutation(len(rows))[: arguments.rows]
            learned, held = np.split(order, [3 * len(order) // 4])
            standard = (targets - targets[learned].mean()) / targets[learned].std()
            train, test = (rows[learned], standard[learned]), (rows[held], standard[held])
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(folder)
                write(folder / "train.csv", *train)
                write(folder / "test.csv", *test)
                program = arguments.program.resolve()
                compared = [("--landmarks", str(c), "--metric", metric) for c in counts for metric in ("one", "auto")]
                found = [own(program, folder, test, *options) for options in (*compared, ())]
            trees = [HistGradientBoostingRegressor(early_stopping=False, random_state=0, **how) for how in TREES.values()]
            found += [rooted(model.fit(*train).predict(test[0]), test[1]) for model in trees]
            errors.append([*found, *([] if arguments.without_network else [network(train, test)])])
        means = np.mean(errors, 0)
        ratios.append(means[1 : 2 * len(counts) : 2] / means[: 2 * len(counts) : 2])
        print(f"| {name} | {' | '.join(f'{value:.3f}' for value in (*means, *ratios[-1]))} |", flush=True)
    print(f"| mean | {' | '.join([''] * len(names))} | {' | '.join(f'{value:.3f}' for value in np.mean(ratios, 0))} |")


if __name__ == "__main__":
    sys.exit(main())
