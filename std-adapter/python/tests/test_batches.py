"""Rows that arrive in batches, and streams of single rows."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from dpp_nystrom import LandmarkClassifier, Nystroem

OWN = {"n_components": 30, "metric": "one", "kernel": "rbf", "random_state": 0}


@pytest.fixture(scope="module")
def trees():
    """Rows of three classes, of which one is rare and not among the first 300."""
    rng = np.random.default_rng(5)
    labels = np.concatenate([rng.choice(["ash", "beech"], size=300), rng.choice(["ash", "beech", "cedar"], size=700)])
    centres = {"ash": [0, 0, 0, 0], "beech": [1.5, 1, 0, 0], "cedar": [0, 1.5, 1.5, 0]}
    return np.array([centres[label] for label in labels]) + 0.6 * rng.normal(size=(1000, 4)), labels


def in_batches(X, y, ends, **parameters):
    model = LandmarkClassifier(**OWN | parameters)
    for begin, end in zip([0, *ends], [*ends, len(y)]):
        classes = ["ash", "beech", "cedar"] if begin == 0 else None
        model.partial_fit(X[begin:end], y[begin:end], classes=classes)
    return model


def test_batches_of_classes_are_least_squares_of_their_indicators(trees):
    X, y = trees
    X = (X - X[:300].mean(axis=0)) / X[:300].std(axis=0)
    model = in_batches(X, y, [300, 600], alpha=0.5, scale=None, sigma=2.0)
    features = Nystroem(sigma=2.0, landmarks=model.component_indices_).fit(X[:300]).transform(X)
    # What is added to outputs is the share of each class in the first batch.
    shares = (y[:300, None] == model.classes_).mean(axis=0)
    indicators = (y[:, None] == model.classes_) - shares
    expected = shares + features @ Ridge(alpha=0.5, fit_intercept=False).fit(features, indicators).coef_.T
    assert np.allclose(model.decision_function(X), expected, rtol=0, atol=1e-8)
    assert model.classes_.tolist() == ["ash", "beech", "cedar"] and model.alpha_ == pytest.approx(0.5)


def test_classes_do_not_depend_on_the_batches_after_the_first(trees):
    X, y = trees
    one, many = (in_batches(X, y, ends) for ends in ([300], [300, 417, 650, 900]))
    assert one.alpha_ == many.alpha_
    assert np.allclose(one.decision_function(X), many.decision_function(X), rtol=0, atol=1e-8)
    # A class that the first batch did not have is learned.
    recall = (one.predict(X[y == "cedar"]) == "cedar").mean()
    assert recall > 0.7
    again = pickle.loads(pickle.dumps(many))
    both = [model.partial_fit(X[:50], y[:50]).predict_proba(X) for model in (again, many)]
    assert np.array_equal(*both)
    for model in (again, one):
        assert not hasattr(model, "test_error_") and not hasattr(model, "feature_importances_")


def test_probabilities_of_batches_are_calibrated_by_rows_that_came_later(trees):
    X, y = trees
    model = in_batches(X, y, [300, 500])
    before = in_batches(X[:500], y[:500], [300])
    # The rows by which the temperature is chosen, as they were predicted: a quarter of the first batch, and all others.
    seen = [(before, slice(500, 1000)), (in_batches(X[:300], y[:300], []), slice(300, 500))]
    outputs = [model_of.decision_function(X[rows]) for model_of, rows in seen]
    classes = np.concatenate([y[rows] for _, rows in seen])

    def loss(temperature):
        logits = np.concatenate(outputs) / temperature
        logits -= logits.max(axis=1, keepdims=True)
        own = logits[np.arange(len(classes)), np.searchsorted(model.classes_, classes)]
        return (np.log(np.exp(logits).sum(axis=1)) - own).mean()

    # Near the optimum of these rows alone, of which the quarter of the first batch is a tenth.
    grid = np.geomspace(0.03, 3, 200)
    best = grid[np.argmin([loss(temperature) for temperature in grid])]
    assert loss(model.temperature_) < loss(best) + 0.01 < loss(1.0) - 0.1
    probabilities = model.predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-12)


def test_rows_that_are_kept_for_probabilities_are_the_last_4096():
    X = np.random.default_rng(0).normal(size=(6000, 2))
    y = (X[:, 0] > 0).astype(int)
    model = LandmarkClassifier(**OWN).partial_fit(X[:800], y[:800], classes=[0, 1])
    model.partial_fit(X[800:], y[800:])
    outputs, classes = model._sums.__reduce__()[1][-1]
    assert len(outputs) == 2 * 4096 and np.array_equal(classes, y[-4096:])


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda model, X, y: model.partial_fit(X, y), "give classes"),
        (lambda model, X, y: model.partial_fit(X, y, classes=["ash"]), "two classes"),
        (lambda model, X, y: model.partial_fit(X, y, classes=["ash", "beech"]), "cedar"),
        (lambda model, X, y: model.partial_fit(X[:5], y[:5], classes=["ash", "beech", "cedar"]), "minimum of 8"),
        (lambda model, X, y: model.set_params(class_weight="balanced").partial_fit(X, y, classes=np.unique(y)), "class_weight"),
        (lambda model, X, y: model.partial_fit(X[y == "ash"], y[y == "ash"], classes=np.unique(y)), "class"),
    ],
)
def test_batches_of_classes_that_are_refused(trees, call, message):
    model = LandmarkClassifier(**OWN)
    with pytest.raises(ValueError, match=message):
        call(model, *trees)
    assert not hasattr(model, "_sums") and not hasattr(model, "classes_")


def test_a_batch_that_is_refused_changes_nothing(trees):
    X, y = trees
    model = in_batches(X[:600], y[:600], [300])
    before = model.predict_proba(X)
    for rows, labels, classes in [
        (X[600:], np.where(y[600:] == "ash", "oak", y[600:]), None),
        (X[600:], y[600:], ["ash", "beech", "oak"]),
        (X[600:, :3], y[600:], None),
        (X[600:] * [1, np.nan, 1, 1], y[600:], None),
    ]:
        with pytest.raises(ValueError):
            model.partial_fit(rows, labels, classes=classes)
        assert np.array_equal(model.predict_proba(X), before) and model.n_features_in_ == 4
    with pytest.warns(UserWarning, match="begins anew"):
        model.fit(X, y).partial_fit(X, y, classes=np.unique(y))


def test_the_stream_of_the_readme():
    """The class in README.md learns from rows one at a time, as river's models do."""
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    (block,) = [block for block in re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL) if "class Stream" in block]
    scope = {}
    exec(block, scope)
    rng = np.random.default_rng(0)
    stream, right = scope["Stream"](LandmarkClassifier(n_components=40, random_state=0), classes=["in", "out"], batch=250), []
    for _ in range(1500):
        x = dict(zip("abc", rng.uniform(-1, 1, size=3)))
        label = "in" if np.hypot(x["a"], x["b"]) < 0.8 else "out"
        right.append(stream.predict_one(x) == label)
        stream.learn_one(x, label)
    assert not any(right[:250]) and np.mean(right[250:]) > 0.9
