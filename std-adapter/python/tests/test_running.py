"""What other threads, signals and the memory see of a fit."""

import json
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from dpp_nystrom import LandmarkClassifier, LandmarkRidge, Nystroem

ROWS = np.random.default_rng(0).normal(size=(200_000, 10))
TARGET = np.sin(ROWS[:, 0])


@pytest.fixture(autouse=True)
def interrupts():
    """Python leaves the signal alone where it is ignored, as shells have it for what runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    "work",
    [
        lambda: LandmarkRidge(n_components=500, random_state=0).fit(ROWS, TARGET),
        lambda: LandmarkRidge(n_components=500, metric="map", random_state=0).fit(ROWS, TARGET),
        lambda: LandmarkClassifier(n_components=500, random_state=0).fit(ROWS, np.digitize(ROWS[:, 0], [-1, 0, 1])),
        lambda: LandmarkRidge(n_components=2000, metric="one", scale=None, selector="uniform").fit(ROWS, TARGET),
        lambda: Nystroem(n_components=500, selector="kdpp", selector_params={"steps": 10**10}).fit(ROWS),
        # Small enough for the calling thread.
        lambda: Nystroem(n_components=100, selector="kdpp", selector_params={"steps": 10**10}).fit(ROWS[:400]),
        lambda: Nystroem(n_components=500, selector="refined", selector_params={"sweeps": 10**6}).fit(ROWS),
        lambda: Nystroem(n_components=5000, selector="rpcholesky").fit(ROWS),
        lambda: Nystroem(n_components=500, selector="kmeans").fit(ROWS),
        lambda: Nystroem(n_components=2000, selector="kmeans++").fit(ROWS),
        lambda: Nystroem(sigma=3.0, landmarks=np.arange(500)).fit(ROWS[:500]).transform(np.repeat(ROWS, 5, axis=0)),
    ],
)
def test_a_signal_interrupts(work):
    """The signal is sent while the work runs; without it, all of these take longer."""
    sent = []

    def send():
        sent.append((time.monotonic(), time.process_time()))
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(1.0, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
            timer.cancel()
    finally:
        timer.cancel()
    print(f"interrupted after {time.monotonic() - sent[0][0]:.2f} s, {time.process_time() - sent[0][1]:.2f} s of all cores")


def test_other_threads_run_during_a_fit():
    done, ticks = threading.Event(), []

    def count():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    counter = threading.Thread(target=count)
    counter.start()
    begin = time.monotonic()
    Nystroem(n_components=300, selector="refined", random_state=0).fit(ROWS)
    end = time.monotonic()
    done.set()
    counter.join()
    during = [tick for tick in ticks if begin < tick < end]
    # With the GIL held there would be none between the first and the last call into Python.
    assert len(during) >= 5 and during[-1] - during[0] > 0.5 * (end - begin)


PEAK = """
import json, sys
import numpy as np
from dpp_nystrom import LandmarkRidge, Nystroem
rows, dtype, kind = int(sys.argv[1]), sys.argv[2], sys.argv[3]
X = np.zeros((rows, 50), dtype=dtype)
for begin in range(0, rows, 10_000):
    X[begin : begin + 10_000] = np.random.default_rng(begin).normal(size=(10_000, 50))
y = np.sin(X[:, 0]).astype(np.float64)
def peak():
    # Of this process alone: ru_maxrss is that of its parent, if it is more.
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])
warm = X[:1000].copy()
Nystroem(n_components=10, selector="kdpp", random_state=0).fit_transform(warm)
before = peak()
if kind == "map":
    found = Nystroem(n_components=10, selector="kdpp", random_state=0).fit_transform(X).nbytes
else:
    model = LandmarkRidge(n_components=10, selector="kdpp", metric="one", scale=None, alpha=1.0, random_state=0).fit(X, y)
    found = model.predict(X).nbytes
after = peak()
print(json.dumps({"rows": X.nbytes, "result": found, "grown": after - before}))
"""


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["map", "model"])
def test_rows_are_not_copied(dtype, kind):
    """At a million rows of 50 features: the peak grows by the result and what goes with the targets, and not by the rows."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, "1000000", dtype, kind], capture_output=True, text=True, check=True
    )
    memory = json.loads(done.stdout)
    print(memory)
    # Besides the result: a few numbers a row (targets, folds) and blocks of rows.
    assert memory["grown"] < memory["result"] + 0.35 * memory["rows"]


def test_fits_that_differ_in_alpha_share_their_metric():
    X = np.random.default_rng(7).uniform(-2, 2, size=(300, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    work, models = [], []
    for alpha, seed in ((1e-3, 0), (1e-2, 0), (1e-2, 1)):
        begin = time.process_time()
        models.append(LandmarkRidge(alpha=alpha, random_state=seed, n_components=40).fit(X, y))
        work.append(time.process_time() - begin)
    # Learning a metric is most of the work of a fit.
    assert 2 * work[1] < min(work[0], work[2])
    assert models[0].metric_ == models[1].metric_ != "one"
    assert np.array_equal(models[0].inverse_length_scales_, models[1].inverse_length_scales_)
