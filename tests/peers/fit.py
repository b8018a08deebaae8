"""`fit` against scikit-learn's StandardScaler, Nystroem and RidgeCV, and against normal equations in numpy.

Both choose among the same 23 ridges at the same bandwidth, for the same rows, and are tested on rows that neither has seen.
Processor time of all threads: of the program with its start, reading text and writing the model; of the peers without.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.io import arff
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[2]
SETS = ("abalone", "ailerons", "bank8FM", "cal.housing", "cpu.act", "cpu.small")
RIDGES = 10.0 ** (np.arange(-20, 3) / 2)


def table(name):
    """Features and target of a set; a nominal attribute becomes one column a value."""
    folder = Path(os.environ.get("DPP_NYSTROM_DATA", ROOT / "../shared/data"))
    data, meta = arff.loadarff(folder / f"{name}.arff")
    columns = []
    for attribute in meta.names():
        kind, values = meta[attribute]
        if kind == "nominal":
            columns += [(data[attribute] == value.encode()).astype(float) for value in values]
        else:
            columns.append(np.asarray(data[attribute], dtype=float))
    rows = np.array(columns).T
    return rows[:, :-1], rows[:, -1]


def complete(frame, target, drop=()):
    """The complete rows of a table, in numbers, and their classes, from 0."""
    frame = frame.drop(columns=list(drop)).dropna()
    labels = frame.pop(target)
    return frame.to_numpy(float), np.unique(labels, return_inverse=True)[1]


def halves(count, seed):
    """Three quarters of the rows to learn from, and the others."""
    order = np.random.default_rng(seed).permutation(count)
    return np.split(order, [3 * count // 4])


class Times:
    """Elapsed and processor seconds of a block, or of the processes that it waits for."""

    def __init__(self, children=False):
        self.who = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF

    def used(self):
        usage = resource.getrusage(self.who)
        return usage.ru_utime + usage.ru_stime

    def __enter__(self):
        self.begin, self.before = time.perf_counter(), self.used()
        return self

    def __exit__(self, *_):
        self.elapsed, self.cpu = time.perf_counter() - self.begin, self.used() - self.before


def run(program, threads, *words):
    environment = dict(os.environ, RAYON_NUM_THREADS=str(threads))
    return subprocess.run([program, *map(str, words)], env=environment, check=True, capture_output=True, text=True).stdout


def error(predictions, targets, learned):
    """Root mean squared error, in standard deviations of the targets learned from."""
    return float(np.sqrt(np.mean((predictions - targets) ** 2)) / learned.std())


def ours(program, folder, threads, count, seed, options):
    """Processor seconds, bandwidth and predictions of the program."""
    learn, test, model, out = (folder / name for name in ("learn.csv", "test.csv", "m.dpp", "out.csv"))
    with Times(children=True) as times:
        report = run(program, threads, "fit", learn, "--landmarks", count, "--seed", seed, "--model", model, "--json", *options)
    run(program, threads, "predict", model, test, "--out", out)
    return times.cpu, json.loads(report)["sigma"], np.loadtxt(out, skiprows=1)


def peer(features, targets, test, threads, count, seed, sigma):
    """Processor seconds and predictions of scikit-learn."""
    kernel = Nystroem(kernel="rbf", gamma=1 / (2 * sigma**2), n_components=count, random_state=seed)
    machine = make_pipeline(StandardScaler(), kernel, RidgeCV(alphas=RIDGES * len(features)))
    with threadpool_limits(threads), Times() as times:
        machine.fit(features, targets)
    return times.cpu, machine.predict(test)


def against_scikit_learn(arguments):
    print("cpu: program / peer   set           c  threads   cpu program, peer   test error program, peer   program / peer")
    ratios = {}
    for name in arguments.sets:
        features, targets = table(name)
        for count in arguments.landmarks:
            lines = {threads: [] for threads in arguments.threads}
            for split in range(arguments.splits):
                learn, test = halves(len(features), split)
                with tempfile.TemporaryDirectory() as folder:
                    folder = Path(folder)
                    head = ",".join([f"x{i}" for i in range(features.shape[1])] + ["y"])
                    for file, rows in (("learn.csv", learn), ("test.csv", test)):
                        both = np.column_stack([features[rows], targets[rows]])
                        np.savetxt(folder / file, both, "%.17g", ",", header=head, comments="")
                    for threads in arguments.threads:
                        cpu, sigma, predictions = ours(
                            arguments.program, folder, threads, count, split, arguments.options
                        )
                        other, others = peer(
                            features[learn], targets[learn], features[test], threads, count, split, sigma
                        )
                        errors = [error(each, targets[test], targets[learn]) for each in (predictions, others)]
                        lines[threads].append((cpu, other, *errors))
            for threads, found in lines.items():
                cpu, other, mine, theirs = (statistics.mean(column) for column in zip(*found))
                ratios.setdefault((count, threads), []).append((cpu / other, mine / theirs))
                print(
                    f"{cpu / other:19.2f}   {name:12} {count:5}  {threads:7}   {cpu:9.2f} {other:9.2f}"
                    f"   {mine:14.4f} {theirs:9.4f}   {mine / theirs:14.3f}",
                    flush=True,
                )
    print("\ngeometric means over the sets\ncpu   test error       c  threads   worst cpu, worst test error")
    for (count, threads), found in ratios.items():
        cpu, errors = zip(*found)
        means = statistics.geometric_mean(cpu), statistics.geometric_mean(errors)
        print(f"{means[0]:.2f}   {means[1]:10.3f}   {count:5}  {threads:7}   {max(cpu):.2f}, {max(errors):.3f}")


def normal_equations(rows, targets, count, sigma, ridge, seed):
    """Ridge regression on uniform landmarks by normal equations, in blocks of rows."""
    mean, deviation = rows.mean(0), rows.std(0)
    centre, spread = targets.mean(), targets.std()
    chosen = np.random.default_rng(seed).choice(len(rows), count, replace=False)
    landmarks = (rows[chosen] - mean) / deviation

    def kernel(block):
        squares = (block**2).sum(1)[:, None] + (landmarks**2).sum(1)[None, :] - 2 * block @ landmarks.T
        return np.exp(np.maximum(squares, 0) / (-2 * sigma**2))

    products, shares = np.zeros((count, count)), np.zeros(count)
    for first in range(0, len(rows), 10_000):
        block = kernel((rows[first : first + 10_000] - mean) / deviation)
        products += block.T @ block
        shares += block.T @ ((targets[first : first + 10_000] - centre) / spread)
    return np.linalg.solve(products + len(rows) * ridge * kernel(landmarks), shares)


def against_numpy(arguments):
    generator = np.random.default_rng(0)
    rows = generator.standard_normal((arguments.rows, 8))
    targets = np.sin(rows).sum(1) + 0.1 * generator.standard_normal(len(rows))
    print(f"\n{len(rows)} x 8, uniform landmarks, ridge 1e-6")
    print("elapsed, cpu: program / peer       c  threads   elapsed program, peer   cpu program, peer")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        np.save(folder / "rows.npy", np.column_stack([rows, targets]))
        for threads in arguments.threads:
            for count in arguments.loop:
                words = ["--method", "uniform", "--metric", "one", "--ridge", "1e-6", "--model", folder / "m.dpp", "--json"]
                with Times(children=True) as own:
                    report = run(arguments.program, threads, "fit", folder / "rows.npy", "--landmarks", count, *words)
                sigma = json.loads(report)["sigma"]
                with threadpool_limits(threads), Times() as other:
                    normal_equations(rows, targets, count, sigma, 1e-6, 0)
                print(
                    f"{own.elapsed / other.elapsed:12.2f} {own.cpu / other.cpu:15.2f}   {count:5}  {threads:7}"
                    f"   {own.elapsed:10.1f} {other.elapsed:10.1f}   {own.cpu:8.1f} {other.cpu:8.1f}",
                    flush=True,
                )


def main():
    def numbers(text):
        return [int(word) for word in text.split(",") if word]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/dpp-nystrom")
    parser.add_argument("--sets", type=lambda text: [word for word in text.split(",") if word], default=SETS)
    parser.add_argument("--landmarks", type=numbers, default=[100, 500, 1_000])
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--loop", type=numbers, default=[200, 500, 1_000], help="landmarks of the loop in numpy")
    parser.add_argument("--rows", type=int, default=1_000_000, help="its rows")
    parser.add_argument("options", nargs="*", help="options of fit, after --")
    arguments = parser.parse_args()
    if not arguments.program.exists():
        sys.exit(f"there is no {arguments.program}: run cargo build --release -p dpp-nystrom-cli")
    if arguments.sets:
        against_scikit_learn(arguments)
    if arguments.loop:
        against_numpy(arguments)


if __name__ == "__main__":
    main()
