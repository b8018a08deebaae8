"""DPPy and scikit-learn's Nystroem beside the project's chains: the same rows' distribution, kernel and c."""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np  # noqa: E402
from dppy.finite_dpps import FiniteDPP  # noqa: E402
from scipy.io import arff  # noqa: E402
from sklearn.kernel_approximation import Nystroem  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
ROWS, COUNT, STEPS = 4_000, 50, 3_000
HEADS = ("DPPy/slot f32", "DPPy/slot f64", "sigma", "method", "us/step", "ms", "trace fraction")


def ours(repetition):
    """The lines of one run of the benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bench.json"
        command = ["cargo", "bench", "-q", "-p", "dpp-nystrom", "--bench", "chain", "--"]
        command += ["error", "ailerons-4000", "--quick", "--json", str(file)]
        print(f"run {repetition}:", *command, flush=True)
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
    return {line["sigma"]: {key.strip(): value for key, value in line.items()} for line in lines if line["start  "] == "uniform"}


def rows(seed):
    """Standardised features of a sample of Ailerons."""
    folder = Path(os.environ.get("DPP_NYSTROM_DATA", ROOT / "../shared/data"))
    data, meta = arff.loadarff(folder / "ailerons.arff")
    features = np.array([data[name] for name in meta.names()[:-1]], dtype=float).T
    chosen = np.random.default_rng(seed).choice(len(features), ROWS, replace=False)
    features = features[chosen]
    deviation = features.std(axis=0)
    return (features - features.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def kernel(x, y, sigma):
    squares = (x**2).sum(1)[:, None] + (y**2).sum(1)[None, :] - 2 * x @ y.T
    return np.exp(-np.maximum(squares, 0.0) / (2 * sigma**2))


def trace_fraction(matrix, members):
    block = matrix[np.ix_(members, members)]
    cross = matrix[members]
    explained = np.einsum("ij,ij->", cross, np.linalg.pinv(block, rcond=1e-13, hermitian=True) @ cross)
    return 1 - explained / np.trace(matrix)


def independent(matrix, rng):
    """A uniform start that DPPy takes: its own search gives up where determinants are small."""
    for _ in range(1_000):
        start = rng.choice(ROWS, COUNT, replace=False)
        if np.linalg.det(matrix[np.ix_(start, start)]) > 0:
            return start.tolist()
    return None


def timed(work):
    begin = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begin


def peers(features, sigma, exact):
    """Name, seconds to a step, seconds, error of each."""
    matrix = kernel(features, features, sigma)
    found = {"DPPy chain": [], "Nystroem": [], "DPPy exact": []}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        start = independent(matrix, rng)
        if start is not None:
            dpp = FiniteDPP("likelihood", L=matrix)
            chain, seconds = timed(
                lambda: dpp.sample_mcmc_k_dpp(size=COUNT, s_init=start, nb_iter=STEPS, random_state=seed)
            )
            members = [int(member) for member in dpp.list_of_samples[-1][-1]]
            found["DPPy chain"].append((seconds / STEPS, seconds, trace_fraction(matrix, members)))
        machine = Nystroem(kernel="rbf", gamma=1 / (2 * sigma**2), n_components=COUNT, random_state=seed)
        _, seconds = timed(lambda: machine.fit(features))
        members = machine.component_indices_.tolist()
        found["Nystroem"].append((None, seconds, trace_fraction(matrix, members)))
    if exact:
        dpp = FiniteDPP("likelihood", L=matrix)
        try:
            members, seconds = timed(lambda: dpp.sample_exact_k_dpp(size=COUNT, random_state=0))
            found["DPPy exact"].append((None, seconds, trace_fraction(matrix, [int(member) for member in members])))
        except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
            print(f"DPPy's exact sampler refuses: {error}")
    return found


def median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def show(line):
    cells = []
    for head, value in zip(HEADS, line):
        text = "-" if value is None else value if isinstance(value, str) else f"{value:.4g}"
        cells.append(text.rjust(max(len(head), 16)))
    print("  ".join(cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exact", action="store_true", help="DPPy's exact sampler too: minutes")
    arguments = parser.parse_args()
    features = rows(0)
    first = ours(1)
    results = {sigma: peers(features, line["bandwidth"], arguments.exact) for sigma, line in first.items()}
    second = ours(2)
    print(f"\nAilerons, N = {ROWS}, c = {COUNT}, uniform start; sigma in medians; one thread\n")
    show(HEADS)
    for sigma, found in results.items():
        def both(key):
            return median([first[sigma][key], second[sigma][key]])

        slot = {precision: both(f"slot {precision} ns/try") for precision in ("f32", "f64")}
        for name, runs in found.items():
            if not runs:
                continue
            step, seconds, error = (median([run[column] for run in runs]) for column in range(3))
            ratios = [None, None]
            if step is not None:
                ratios = [step * 1e9 / slot["f32"] if slot["f32"] else None, step * 1e9 / slot["f64"]]
            show([*ratios, sigma, name, step and step * 1e6, seconds * 1e3, error])
        for precision in ("f32", "f64"):
            milliseconds = both(f"slot {precision} ms")
            time_of_try = slot[precision]
            show([None, None, sigma, f"slot {precision}", time_of_try and time_of_try / 1e3, milliseconds, both("A1 error") if milliseconds else None])
        show([None, None, sigma, "Algorithm 1", both("A1 ns/step") / 1e3, both("A1 ms"), both("A1 error")])
        show([None, None, sigma, "pivoted Cholesky", None, both("pivot f64 ms"), both("pivot error")])


if __name__ == "__main__":
    main()
