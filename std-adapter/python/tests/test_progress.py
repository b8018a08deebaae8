"""Progress, callbacks, and the threads of small fits."""

import builtins
import subprocess
import sys

import numpy as np
import pytest

from dpp_nystrom import LandmarkClassifier, LandmarkRidge, Nystroem

rng = np.random.default_rng(2)
SMALL, LARGE = rng.uniform(-2, 2, size=(400, 4)), rng.uniform(-2, 2, size=(4000, 6))


def target(X):
    return np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]


@pytest.mark.parametrize("X", [SMALL, LARGE], ids=["small", "large"])
def test_a_callback_is_told_of_all_phases(X):
    calls = []
    model = LandmarkRidge(n_components=40, random_state=0, callbacks=[lambda *told: calls.append(told)]).fit(X, target(X))
    assert {"rows"} <= {phase for phase, _, _ in calls}
    assert all(isinstance(phase, str) and 0 <= done and (steps == 0 or done <= steps) for phase, done, steps in calls)
    # The last word on the phase of the rows is that all were read.
    last = {phase: (done, steps) for phase, done, steps in calls}
    assert last["rows"] == (len(X), len(X))
    silent = LandmarkRidge(n_components=40, random_state=0).fit(X, target(X))
    assert np.array_equal(model.predict(X), silent.predict(X))
    Nystroem(n_components=40, selector="kdpp", random_state=0, callbacks=[lambda *told: calls.append(told)]).fit(X)
    LandmarkClassifier(n_components=20, callbacks=[lambda *told: calls.append(told)]).partial_fit(X, X[:, 0] > 0, classes=[False, True])
    assert len({phase for phase, _, _ in calls}) >= 3


@pytest.mark.parametrize("X", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError("enough"), SystemExit])
def test_an_exception_of_a_callback_ends_the_fit(X, error):
    y, calls = target(X), []

    def stop(*told):
        calls.append(told)
        raise error

    model = LandmarkRidge(n_components=40, random_state=0).fit(X[:, :3], y)
    before, parameters = dict(vars(model)), model.predict(X[:, :3])
    model.set_params(callbacks=[stop])
    with pytest.raises(type(error) if isinstance(error, Exception) else error):
        model.fit(X, y)
    # It was asked once, and the model is that of before, its number of features too.
    assert len(calls) == 1
    model.set_params(callbacks=None)
    assert vars(model).keys() == before.keys() and all(vars(model)[name] is value for name, value in before.items())
    assert np.array_equal(model.predict(X[:, :3]), parameters)


def test_callbacks_that_cannot_be_called_are_refused():
    with pytest.raises(ValueError, match="functions of phase"):
        LandmarkRidge(callbacks=[3]).fit(SMALL, target(SMALL))


def test_verbose_shows_a_bar_of_tqdm(capsys):
    LandmarkRidge(n_components=40, verbose=True, random_state=0).fit(LARGE, target(LARGE))
    shown = capsys.readouterr().err
    assert "rows" in shown and "it/s]" in shown


def test_verbose_writes_lines_without_tqdm(capsys, monkeypatch):
    imported = builtins.__import__

    def without(name, *others, **more):
        if name.split(".")[0] == "tqdm":
            raise ImportError(name)
        return imported(name, *others, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    LandmarkRidge(n_components=40, verbose=True, random_state=0).fit(LARGE, target(LARGE))
    lines = capsys.readouterr().err.splitlines()
    assert "rows" in lines and all(line and "\r" not in line for line in lines)


THREADS = """
import os, sys
import numpy as np, pandas as pd
import sklearn.utils
from dpp_nystrom import LandmarkClassifier, LandmarkRidge, Nystroem
def count():
    return len(os.listdir("/proc/self/task"))
X = np.random.default_rng(0).uniform(-2, 2, size=(400, 4))
y = np.sin(2 * X[:, 0]) + X[:, 1]
before = count()
model = LandmarkRidge(random_state=0).fit(X, y)
model.predict(X, return_std=True)
LandmarkClassifier(random_state=0).fit(X, y > 0).predict_proba(X)
Nystroem(random_state=0).fit_transform(X)
LandmarkRidge(random_state=0).fit(pd.DataFrame(X, columns=list("abcd")), y)
LandmarkRidge(random_state=0, metric="one").partial_fit(X, y)
small = count() - before
wide = np.random.default_rng(0).normal(size=(4000, 8))
LandmarkRidge(random_state=0, metric="one", n_components=20).fit(wide, wide[:, 0])
print(small, count() - before)
"""


def test_a_small_fit_starts_no_thread():
    done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, check=True)
    small, large = map(int, done.stdout.split())
    assert small == 0 and large > 0


def test_n_jobs_starts_threads_for_small_fits_too():
    """And the results are the same."""
    y = target(SMALL)
    one = LandmarkRidge(random_state=0).fit(SMALL, y)
    several = LandmarkRidge(random_state=0, n_jobs=3).fit(SMALL, y)
    assert np.array_equal(one.predict(SMALL), several.predict(SMALL))
