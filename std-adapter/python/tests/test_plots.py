"""Plots, drawn without a screen."""

import builtins

import matplotlib
import numpy as np
import pandas as pd
import pytest

from dpp_nystrom import LandmarkClassifier, LandmarkRidge, Nystroem

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 3))
FRAME = pd.DataFrame(X, columns=["noise", "half", "most"])
MODEL = LandmarkRidge(n_components=25, random_state=0).fit(FRAME, 3 * np.sin(X[:, 2]) + X[:, 1])


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_importances_are_bars():
    ax = MODEL.plot_importance()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["noise", "half", "most"]  # the last on top
    widths = [bar.get_width() for bar in ax.patches]
    assert np.allclose(widths, 100 * MODEL.feature_importances_)
    given = pyplot.subplots()[1]
    assert MODEL.plot_importance(ax=given) is given
    ax.figure.canvas.draw()


def test_landmarks_are_drawn_in_kernel_components():
    ax = MODEL.plot_landmarks(FRAME)
    rows, landmarks = (np.asarray(points.get_offsets()) for points in ax.collections)
    assert rows.shape == (750, 2) and landmarks.shape == (25, 2)
    # The principal components of the centred features of the rows drawn.
    model = LandmarkRidge(n_components=25, metric="one", kernel="rbf", scale=None, random_state=0).fit(X, X[:, 0])
    features = Nystroem(sigma=model.sigma_, landmarks=model.component_indices_).fit(X).transform(X[::2])
    centred = features - features.mean(axis=0)
    values, directions = np.linalg.eigh(centred.T @ centred)
    expected = centred @ directions[:, :-3:-1]
    ax = model.plot_landmarks(X)
    found = np.asarray(ax.collections[0].get_offsets())
    assert np.allclose(abs(found), abs(expected), atol=1e-6)
    assert f"{100 * values[-1] / values.sum():.1f} %" in ax.get_xlabel()
    LandmarkClassifier(n_components=10).fit(X, X[:, 0] > 0).plot_landmarks(X[:300]).figure.canvas.draw()


def test_a_plot_without_matplotlib_says_what_to_install(monkeypatch):
    imported = builtins.__import__

    def without(name, *others, **more):
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return imported(name, *others, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    for draw in (MODEL.plot_importance, lambda: MODEL.plot_landmarks(FRAME)):
        with pytest.raises(ImportError, match="pip install matplotlib"):
            draw()


def test_a_model_of_batches_has_no_importances_to_draw():
    with pytest.raises(ValueError, match="call fit"):
        LandmarkRidge(n_components=10, metric="one").partial_fit(X, X[:, 0]).plot_importance()
