"""`fit` with 1,000 to 20,000 landmarks on a million generated rows: test error, processor time and memory.

The target is a function of five of eight normal features, with noise of 4 % of its deviation. Rows to test on are
generated apart. A number of landmarks that is in the file of results is not run again. Needs numpy.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TESTED = 20_000
NOISE = 0.04


def generated(rows):
    """Rows to learn from and rows to test on, the target last."""
    random = np.random.default_rng(6)
    x = random.standard_normal((rows + TESTED, 8))
    a, b, c, d, e = x.T[:5]
    y = np.sin(2 * a + b) + a * c / 2 + e * np.cos(1.5 * d)
    y += NOISE * y.std() * random.standard_normal(len(y))
    both = np.column_stack([x, y]).astype(np.float32)
    return both[:rows], both[rows:]


def run(folder, *words):
    """What a command prints, its elapsed and processor seconds, and the peak of its memory in bytes."""
    begin = time.perf_counter()
    with (folder / "out").open("w+") as out:
        process = subprocess.Popen(list(map(str, words)), stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        out.seek(0)
        text = out.read()
    if status:
        raise SystemExit(f"{' '.join(map(str, words))} failed")
    return text, time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, 1024 * usage.ru_maxrss


def cell(arguments, count, learn, test):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        np.save(folder / "learn.npy", learn)
        np.save(folder / "test.npy", test[:, :-1])
        fit = ["fit", folder / "learn.npy", "--target", learn.shape[1] - 1, "--model", folder / "m.dpp", "--landmarks", count]
        text, elapsed, cpu, memory = run(folder, arguments.program, *fit, *arguments.options, "--json")
        report = json.loads(text)
        run(folder, arguments.program, "predict", folder / "m.dpp", folder / "test.npy", "--out", folder / "predicted.npy")
        squares = (np.load(folder / "predicted.npy").reshape(len(test), -1)[:, 0] - test[:, -1]) ** 2
    scale = learn[:, -1].std(dtype=float)
    error = float(np.sqrt(squares.mean()) / scale)
    standard = float(squares.std() / np.sqrt(len(squares)) / (2 * error * scale**2))
    return {"rows": len(learn), "asked": count, "options": arguments.options, "landmarks": len(report["landmarks"])} | {
        "ridge": report["ridge"], "error": error, "se": standard, "elapsed": elapsed, "cpu": cpu, "bytes": memory
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/dpp-nystrom")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--landmarks", type=int, nargs="*", default=[1_000, 5_000, 20_000])
    parser.add_argument("--results", type=Path, default=ROOT / "target/many.jsonl")
    options = "--precision f32 --metric one --kernel matern32 --sigma median --method uniform".split()
    parser.add_argument("options", nargs="*", help="options of fit, after --", default=options)
    arguments = parser.parse_args()
    arguments.program = arguments.program.resolve()
    known = {}
    if arguments.results.exists():
        for record in map(json.loads, arguments.results.read_text().splitlines()):
            known[record["rows"], record["asked"], *record["options"]] = record
    learn, test = generated(arguments.rows)
    print("| landmarks | ridge | test error | elapsed seconds | processor seconds | memory |\n| --- | --- | --- | --- | --- | --- |")
    for count in arguments.landmarks:
        key = (arguments.rows, count, *arguments.options)
        if key not in known:
            known[key] = cell(arguments, count, learn, test)
            with arguments.results.open("a") as out:
                out.write(json.dumps(known[key]) + "\n")
        own = known[key]
        figures = f"{own['error']:.4f} ± {own['se']:.4f} | {own['elapsed']:,.0f} | {own['cpu']:,.0f} | {own['bytes'] / 1e6:,.0f} MB"
        print(f"| {own['landmarks']:,} | {own['ridge']:.1e} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
