"""The Python package beside scikit-learn's Nystroem: seconds of a fit and a transform, errors, memory, import time, wheel size.

Rows are those of two dozen Gaussian clusters, and both have the same kernel. A round runs every program once, in turn; times are
medians over rounds, ratios those of the same round. Peaks are those of processes of their own.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.kernel_approximation import Nystroem as Reference

from dpp_nystrom import Nystroem

ROOT = Path(__file__).resolve().parents[2]
FEATURES, GAMMA, SELECTORS = 20, 0.01, ("uniform", "kdpp", "auto", "rpcholesky")
PEAK = """
import json, sys
import numpy as np
name, rows = sys.argv[1], int(sys.argv[2])
dtype = np.float32 if name.endswith("f32") else np.float64
X = np.zeros((rows, 20), dtype=dtype)
for begin in range(0, rows, 10_000):
    X[begin : begin + 10_000] = np.random.default_rng(begin).normal(size=(10_000, 20))
if name == "scikit-learn":
    from sklearn.kernel_approximation import Nystroem
    machine = Nystroem(gamma=0.01, n_components=20, random_state=0)
else:
    from dpp_nystrom import Nystroem
    machine = Nystroem(gamma=0.01, n_components=20, selector=name.split()[0], random_state=0)
machine.fit_transform(X[:1000])
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
before = peak()
machine.fit(X)
fitted = peak()
features = machine.transform(X)
print(json.dumps([X.nbytes / 2**20, fitted - before, features.nbytes / 2**20, peak() - before]))
"""


def clusters(rows):
    rng = np.random.default_rng(0)
    centres = 4 * rng.normal(size=(24, FEATURES))
    return centres[rng.integers(len(centres), size=rows)] + rng.normal(size=(rows, FEATURES))


def machines(count, seed):
    yield "scikit-learn", Reference(gamma=GAMMA, n_components=count, random_state=seed)
    for selector in SELECTORS:
        yield selector, Nystroem(gamma=GAMMA, n_components=count, selector=selector, random_state=seed)


def measured(machine, rows):
    """Seconds of a fit and of a transform, and the trace error divided by the trace: k(x, x) = 1."""
    begin = time.perf_counter()
    machine.fit(rows)
    middle = time.perf_counter()
    features = machine.transform(rows)
    end = time.perf_counter()
    error = 1 - float(np.einsum("ij,ij->", features, features)) / len(rows)
    return middle - begin, end - middle, error


def times(rows, rounds):
    X = clusters(rows)
    for count in (100, 500):
        found = {}
        for seed in range(rounds):
            for name, machine in machines(count, seed):
                found.setdefault(name, []).append(measured(machine, X))
        print(f"\nN = {rows}, c = {count}, {FEATURES} features, {rounds} rounds")
        print("selector        fit s  transform s  scikit-learn's time / this  trace error / trace")
        for name, runs in found.items():
            ratios = [sum(theirs[:2]) / sum(own[:2]) for theirs, own in zip(found["scikit-learn"], runs)]
            fit, transform, error = (statistics.median(run[column] for run in runs) for column in range(3))
            print(f"{name:12} {fit:8.3f} {transform:12.3f} {statistics.median(ratios):27.2f} {error:20.4f}")


def memory(rows):
    print(f"\nMiB, N = {rows}, {FEATURES} features, c = 20: rows, growth of the peak by the fit, result, growth by fit and transform")
    for name in ("scikit-learn", "uniform", "kdpp", "auto", "uniform f32", "rpcholesky"):
        done = subprocess.run([sys.executable, "-c", PEAK, name, str(rows)], capture_output=True, text=True, check=True)
        print(f"{name:12}", *(f"{value:8.0f}" for value in json.loads(done.stdout)))


def imports():
    """Seconds of a core, of scikit-learn with numpy and then of the package."""
    code = """
import time
def seconds(*names):
    begin = time.process_time()
    for name in names:
        __import__(name)
    return time.process_time() - begin
print(seconds("sklearn.base", "sklearn.utils.validation"), seconds("dpp_nystrom"))
"""
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    theirs, own = (statistics.median(float(run.stdout.split()[place]) for run in runs) for place in (0, 1))
    print(f"\nimport: scikit-learn and numpy {theirs:.2f} s of a core, dpp_nystrom {own:.3f} s more")
    wheels = sorted((ROOT / "target/python/wheels").glob("*.whl"))
    for wheel in wheels:
        print(f"{wheel.name}: {wheel.stat().st_size / 2**20:.1f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=100_000)
    arguments = parser.parse_args()
    times(arguments.rows, arguments.rounds)
    memory(1_000_000)
    imports()


if __name__ == "__main__":
    main()
