"""Classes: `fit` beside scikit-learn, on rows that no choice has seen.

Three sets that scikit-learn brings and three that it makes (more than ten classes, imbalanced, noisy), split five times, a quarter held
out. Features are standardised for scikit-learn's kernels and lines, whose parameters, and those of the trees, are chosen by accuracy in
three stratified folds of the training rows. Prints a table of accuracies in per cent, means over the splits, and the mean rank of each at
the default number of landmarks.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

ROOT = Path(__file__).resolve().parents[2]


def sets():
    for name, load in [("wine", load_wine), ("breast cancer", load_breast_cancer), ("digits", load_digits)]:
        yield name, *load(return_X_y=True)
    many = dict(n_samples=3000, n_features=20, n_informative=10, n_classes=15, n_clusters_per_class=1, class_sep=1.5)
    yield "15 classes", *make_classification(random_state=1, **many)
    rare = dict(n_samples=3000, n_features=15, n_informative=6, n_classes=3, weights=[0.9, 0.07, 0.03], flip_y=0.01)
    yield "imbalanced", *make_classification(random_state=2, **rare)
    noisy = dict(n_samples=2000, n_features=30, n_informative=5, n_classes=2, flip_y=0.2)
    yield "noisy", *make_classification(random_state=3, **noisy)


def peers(seed):
    """Yield a name and what makes a model that chooses its parameters for training rows of `width` features."""

    def tuned(model, **grid):
        return GridSearchCV(model, grid, cv=StratifiedKFold(3, shuffle=True, random_state=seed))

    def kernel(c):
        def make(rows, width):
            features = Nystroem(n_components=min(c, rows), random_state=seed)
            model = make_pipeline(StandardScaler(), features, LogisticRegression(max_iter=2000))
            scales = [factor / width for factor in (0.1, 0.3, 1, 3)]
            return tuned(model, nystroem__gamma=scales, logisticregression__C=[1, 10, 100])

        return make

    def vectors(_, width):
        scales = [factor / width for factor in (0.1, 0.3, 1, 3)]
        return tuned(make_pipeline(StandardScaler(), SVC()), svc__gamma=scales, svc__C=[1, 10, 100])

    def boosted(_, __):
        model = HistGradientBoostingClassifier(random_state=seed)
        return tuned(model, learning_rate=[0.05, 0.1], max_leaf_nodes=[8, 31])

    def forest(_, __):
        model = RandomForestClassifier(300, random_state=seed)
        return tuned(model, max_features=["sqrt", 0.5], min_samples_leaf=[1, 3])

    for c in 50, 200, 100:
        yield f"Nystroem, {c}", kernel(c)
    yield from [("SVC", vectors), ("boosted trees", boosted), ("random forest", forest)]


def write(path, x, y):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([f"f{j}" for j in range(x.shape[1])] + ["label"])
        out.writerows([*map(repr, map(float, row)), f"c{label}"] for row, label in zip(x, y))


def own(program, folder, train, test, seed, options):
    """Return the predicted labels and their probabilities."""
    write(folder / "train.csv", *train)
    write(folder / "test.csv", *test)
    run = lambda *arguments: subprocess.run(  # noqa: E731
        [program, *map(str, arguments)], check=True, capture_output=True, cwd=folder, text=True
    )
    run("fit", "train.csv", "--model", "m.dpp", "--seed", seed, *options)
    told = run("predict", "m.dpp", "test.csv", "--out", "out.csv").stderr
    with open(folder / "out.csv", newline="") as file:
        labels = np.array([int(row["label"][1:]) for row in csv.DictReader(file)])
    return labels, float(told.split("log-loss ")[1].split()[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=ROOT / "target/release/dpp-nystrom")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--sets", default="", help="only sets whose names contain this")
    parser.add_argument("--own", action="store_true", help="leave scikit-learn out")
    parser.add_argument("options", nargs="*", help="options of fit, after --")
    arguments = parser.parse_args()
    accuracies, losses = {}, {}
    for name, x, y in (found for found in sets() if arguments.sets in found[0]):
        split = StratifiedShuffleSplit(arguments.splits, test_size=0.25, random_state=0)
        for seed, (train, test) in enumerate(split.split(x, y)):
            record = lambda who, found: accuracies.setdefault(who, {}).setdefault(name, []).append(  # noqa: E731
                np.mean(found == y[test])
            )
            with tempfile.TemporaryDirectory() as folder:
                for who, more in [
                    ("fit", []),
                    ("fit, a map", ["--metric", "map"]),
                    ("fit, 50", ["--landmarks", 50]),
                    ("fit, 200", ["--landmarks", min(200, len(train) // 2)]),
                ]:
                    options = [*more, *arguments.options]
                    labels, loss = own(
                        arguments.program, Path(folder), (x[train], y[train]), (x[test], y[test]), seed, options
                    )
                    record(who, labels)
                    losses.setdefault(who, {}).setdefault(name, []).append(loss)
            for who, make in [] if arguments.own else peers(seed):
                # A fold of three has two thirds of the rows.
                model = make(len(train) * 2 // 3, x.shape[1]).fit(x[train], y[train])
                record(who, model.predict(x[test]))
                if hasattr(model, "predict_proba"):
                    p = model.predict_proba(x[test])[np.arange(len(test)), y[test]]
                    losses.setdefault(who, {}).setdefault(name, []).append(-np.mean(np.log(np.maximum(p, 1e-15))))
        found = {who: round(float(100 * np.mean(of[name])), 1) for who, of in accuracies.items()}
        print(name, found, file=sys.stderr, flush=True)
    names = list(next(iter(accuracies.values())))
    mean = lambda of, who, name: np.mean(of[who][name]) if who in of else float("nan")  # noqa: E731
    ranked = [who for who in accuracies if not who.endswith(("50", "200"))]
    ranks = np.mean([rankdata([-mean(accuracies, who, name) for who in ranked]) for name in names], axis=0)
    print("| accuracy in % | " + " | ".join(names) + " | mean rank |")
    print("| --- " * (len(names) + 2) + "|")
    for who in accuracies:
        rank = f"{ranks[ranked.index(who)]:.2f}" if who in ranked else ""
        print(f"| {who} | " + " | ".join(f"{100 * mean(accuracies, who, name):.1f}" for name in names) + f" | {rank} |")
    print("\n| log-loss | " + " | ".join(names) + " |\n" + "| --- " * (len(names) + 1) + "|")
    for who in losses:
        print(f"| {who} | " + " | ".join(f"{mean(losses, who, name):.3f}" for name in names) + " |")


if __name__ == "__main__":
    main()
