"""Subsets of embeddings: the program beside pyversity's DPP (greedy MAP inference of cosine similarities).

    python tests/peers/subsets.py [--rows 10000 100000] [--dim 768] [--landmarks 1000] [--methods ...]

Embeddings are made: clusters of unequal spread, of length 1 as pyversity makes them, in single precision. The program
reads them from a row store that is not scaled, under the linear kernel, which is then the cosine of two rows and of
rank --dim at most, or with --kernel gaussian of bandwidth 1, of more. `greedy` and pyversity maximise log det K_CC
greedily; the table has that of each, in double precision, beside seconds, processor seconds and the largest memory of
the process besides the mapped file (RssAnon). Without pyversity, above --pyversity rows, or under another kernel, its
line is left out.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time

import numpy as np

PROGRAM = pathlib.Path(__file__).parents[2] / "target/release/dpp-nystrom"


def embeddings(rows, dim, seed=1):
    """Unit rows around 200 centres."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((200, dim), dtype=np.float32)
    spread = random.uniform(0.3, 1.5, 200).astype(np.float32)
    x = np.empty((rows, dim), dtype=np.float32)
    for begin in range(0, rows, 10_000):
        block = slice(begin, min(begin + 10_000, rows))
        of = random.integers(0, 200, block.stop - begin)
        x[block] = centres[of] + spread[of, None] * random.standard_normal((len(of), dim), dtype=np.float32)
        x[block] /= np.linalg.norm(x[block], axis=1, keepdims=True)
    return x


def run(arguments):
    """Run the program; return what it prints, seconds, processor seconds and its largest anonymous memory."""
    before = time.perf_counter()
    process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    most, done = 0, threading.Event()

    def watch():
        nonlocal most
        while not done.wait(0.02):
            try:
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                most = max(most, int(status.split("RssAnon:")[1].split()[0]))
            except (OSError, IndexError):
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    done.set()
    watcher.join()
    if status != 0:
        raise SystemExit(f"{arguments}: exit status {status}")
    return json.loads(out), time.perf_counter() - before, usage.ru_utime + usage.ru_stime, most / 1024


def log_det(x, rows, kernel):
    chosen = x[np.asarray(rows)].astype(np.float64)
    products = chosen @ chosen.T
    return np.linalg.slogdet(products if kernel == "linear" else np.exp(products - 1))[1]


def line(rows, name, landmarks, seconds, processor, memory):
    memory = "" if memory is None else f"{memory:.0f}"
    print(f"| {rows} | {name} | {landmarks:.2f} | {seconds:.1f} | {processor:.1f} | {memory} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--dim", type=int, default=768)
    parser.add_argument("--landmarks", type=int, default=500)
    parser.add_argument("--kernel", choices=["linear", "gaussian"], default="linear")
    parser.add_argument("--pyversity", type=int, default=100_000, help="largest number of rows for pyversity")
    parser.add_argument("--methods", nargs="+", default=["greedy", "rpcholesky", "refined", "kdpp"])
    arguments = parser.parse_args()
    print("| rows | method | log det K_CC | seconds | processor seconds | MiB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for rows in arguments.rows:
        x = embeddings(rows, arguments.dim)
        with tempfile.TemporaryDirectory(dir=PROGRAM.parents[1]) as folder:
            array, store = f"{folder}/x.npy", f"{folder}/x.rows"
            np.save(array, x)
            convert = ["convert", array, "--target", "none", "--scale", "none", "--precision", "f32"]
            _, *cost = run([*convert, "--out", store, "--json"])
            print(f"| {rows} | `convert` | | {cost[0]:.1f} | {cost[1]:.1f} | {cost[2]:.0f} |", flush=True)
            order = None
            for method in arguments.methods:
                select = ["select", store, "--kernel", arguments.kernel, "--landmarks", arguments.landmarks]
                if arguments.kernel == "gaussian":
                    select += ["--sigma", 1]
                told, *cost = run([*select, "--method", method, "--json"])
                if method == "greedy":
                    order = told["order"]
                line(rows, f"`{method}`", log_det(x, told["landmarks"], arguments.kernel), *cost)
        if rows > arguments.pyversity or arguments.kernel != "linear":
            continue
        try:
            from pyversity.strategies import dpp
        except ImportError:
            continue
        before, processor = time.perf_counter(), time.process_time()
        found = dpp(x, np.ones(rows, dtype=np.float32), arguments.landmarks, diversity=1.0)
        seconds, processor = time.perf_counter() - before, time.process_time() - processor
        line(rows, "pyversity", log_det(x, found.indices, arguments.kernel), seconds, processor, None)
        if order is not None:
            same = sum(int(one == other) for one, other in zip(order, found.indices, strict=True))
            print(f"\n{same} of {len(order)} rows in the same place of the order as pyversity's\n", flush=True)


if __name__ == "__main__":
    main()
