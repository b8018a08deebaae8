"""The estimators among those of scikit-learn, and their formulas against numpy."""

import copy
import doctest
import importlib
import multiprocessing
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem as Reference
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import euclidean_distances, laplacian_kernel, polynomial_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpp_nystrom import LandmarkClassifier, LandmarkRidge, Nystroem, inclusion_probabilities, sample_cdpp, select


def expected_to_fail(estimator):
    """Landmarks and folds are drawn from rows: scikit-learn expects this check to fail for its own estimators that draw rows, such as
    `RandomForestClassifier` and `KMeans`. Equivalence for given landmarks and ridge is tested below."""
    weighs = isinstance(estimator, (LandmarkRidge, LandmarkClassifier))
    checks = [f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse")]
    return dict.fromkeys(checks, "landmarks are drawn from the rows") if weighs else {}


@parametrize_with_checks(
    [Nystroem(), Nystroem(selector="kdpp"), Nystroem(kernel="laplacian", scale="standard"), LandmarkRidge(), LandmarkClassifier()],
    expected_failed_checks=expected_to_fail,
)
def test_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        # After fit, which keeps no sums, partial_fit begins anew and says so.
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.mark.parametrize("module", ["", "._classifier", "._nystroem", "._ridge", "._sampling"])
def test_examples(module):
    results = doctest.testmod(importlib.import_module("dpp_nystrom" + module))
    assert results.attempted > 3 and results.failed == 0


@pytest.mark.parametrize(
    "parameters, kernel",
    [
        ({"kernel": "rbf", "gamma": 0.2}, lambda x, y: rbf_kernel(x, y, gamma=0.2)),
        ({"kernel": "rbf", "sigma": 2.0}, lambda x, y: rbf_kernel(x, y, gamma=0.125)),
        ({"kernel": "laplacian", "gamma": 0.2}, lambda x, y: laplacian_kernel(x, y, gamma=0.2)),
        ({"kernel": "poly", "degree": 2, "coef0": 0.5}, lambda x, y: polynomial_kernel(x, y, degree=2, gamma=1, coef0=0.5)),
        ({"kernel": "linear"}, lambda x, y: x @ y.T),
        ({"kernel": "rational-quadratic", "sigma": 2.0}, lambda x, y: 1 / (1 + euclidean_distances(x, y) ** 2 / 8)),
    ],
)
def test_inner_products_are_the_nystrom_approximation(table, parameters, kernel):
    X = table[0][:, :4]
    c = 3 if parameters["kernel"] == "linear" else 15
    fitted = Nystroem(n_components=c, selector="kdpp", random_state=2, **parameters).fit(X[:400])
    landmarks = X[fitted.component_indices_]
    features, cross = fitted.transform(X), kernel(X, landmarks)
    expected = cross @ np.linalg.solve(kernel(landmarks, landmarks), cross.T)
    assert np.allclose(features @ features.T, expected, rtol=0, atol=1e-9 * abs(expected).max())
    if "gamma" in parameters:
        assert fitted.gamma_ == pytest.approx(parameters["gamma"], rel=1e-15)


def test_given_landmarks_give_the_kernel_of_scikit_learn(table):
    X = table[0]
    reference = Reference(gamma=0.01, n_components=40, random_state=0).fit(X)
    fitted = Nystroem(gamma=0.01, landmarks=reference.component_indices_).fit(X)
    ours, theirs = fitted.transform(X), reference.transform(X)
    assert np.allclose(ours @ ours.T, theirs @ theirs.T, rtol=0, atol=1e-9)


@pytest.mark.parametrize("batches", [1, 3])
def test_ridge_is_that_of_scikit_learn(table, batches):
    """On all rows as landmarks, or on the features of some of them: `alpha` is multiplied by nothing."""
    X, y = table
    gamma, alpha = 0.05, 0.3
    scaled = X[:, :4] / X[:, :4].std(axis=0)
    fitted = LandmarkRidge(alpha=alpha, gamma=gamma, metric="one", scale=None, n_components=40, random_state=0)
    for batch in np.array_split(np.arange(len(y)), batches):
        if batches == 1:
            fitted.fit(scaled, y)
        else:
            fitted.partial_fit(scaled[batch], y[batch])
    features = Nystroem(gamma=gamma, landmarks=fitted.component_indices_).fit(scaled).transform(scaled)
    # The intercept is the mean of the target: of the first batch.
    centre = y[: len(y) if batches == 1 else len(y) // batches + 1].mean()
    expected = centre + features @ Ridge(alpha=alpha, fit_intercept=False).fit(features, y - centre).coef_
    assert np.allclose(fitted.predict(scaled), expected, rtol=0, atol=1e-8)
    assert fitted.alpha_ == pytest.approx(alpha, rel=1e-12)
    kernel = rbf_kernel(scaled, fitted.components_, gamma=gamma)
    assert np.allclose(kernel @ fitted.dual_coef_ + fitted.intercept_, expected, rtol=0, atol=1e-8)
    if batches == 1:
        full = LandmarkRidge(alpha=alpha, sigma=1.0, metric="one", scale=None, landmarks=np.arange(200)).fit(scaled[:200], y[:200])
        exact = KernelRidge(alpha=alpha, kernel="rbf", gamma=0.5).fit(scaled[:200], y[:200] - y[:200].mean())
        assert np.allclose(full.predict(scaled), exact.predict(scaled) + y[:200].mean(), rtol=0, atol=1e-6)


def test_batches_choose_the_same_ridge_in_any_split(table):
    X, y = table
    first = LandmarkRidge(random_state=0, n_components=30).partial_fit(X[:300], y[:300])
    one, many = copy.deepcopy(first), first
    one.partial_fit(X[300:], y[300:])
    for begin in range(300, 700, 100):
        many = pickle.loads(pickle.dumps(many)).partial_fit(X[begin : begin + 100], y[begin : begin + 100])
    assert one.alpha_ == many.alpha_
    assert not hasattr(many, "feature_importances_") and not hasattr(many, "test_error_")
    assert np.allclose(one.predict(X), many.predict(X), rtol=0, atol=1e-8)
    before = many.predict(X)
    with pytest.raises(ValueError):
        many.partial_fit(X[:10] * [1, 1, 1, 1, np.nan], y[:10])
    assert np.array_equal(many.predict(X), before)
    with pytest.warns(UserWarning, match="begins anew"):
        LandmarkRidge(random_state=0).fit(X, y).partial_fit(X, y)


def test_pipeline_search_and_clone(table):
    X, _ = table
    y = np.sin(2 * X[:, 0])
    pipeline = make_pipeline(Nystroem(n_components=30, scale="standard", random_state=0), Ridge(1e-3))
    search = GridSearchCV(pipeline, {"nystroem__sigma": [1.0, 100.0], "nystroem__selector": ["uniform", "kdpp"]}, n_jobs=2)
    assert search.fit(X, y).best_params_["nystroem__sigma"] == 1.0
    search = GridSearchCV(LandmarkRidge(random_state=0, metric="one"), {"alpha": [1e-2, 1e3], "sigma": [1.0, 2.0]}, cv=2)
    assert search.fit(X, y).best_params_["alpha"] == 1e-2 and search.best_score_ > 0.5
    model = LandmarkRidge(random_state=0, n_jobs=1).fit(X, y)
    # A number beyond what pays is lowered, and a negative one counts from all cores: at least one thread.
    for n_jobs in (10**6, -2, -(10**6)):
        several = LandmarkRidge(random_state=0, n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(several.predict(X), model.predict(X))
    again = clone(model).set_params(n_jobs=None).fit(X, y)
    assert np.array_equal(model.predict(X), again.predict(X))
    assert cross_val_score(clone(model), X, y, cv=2).min() > 0.9


def test_pandas(table):
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcde"))
    fitted = Nystroem(n_components=10, random_state=0, strict=True).set_output(transform="pandas").fit(frame)
    assert list(fitted.feature_names_in_) == list("abcde")
    assert list(fitted.transform(frame).columns) == [f"nystroem{feature}" for feature in range(10)]
    assert np.array_equal(fitted.transform(frame).to_numpy(), clone(fitted).set_output(transform="default").fit_transform(X))
    model = LandmarkRidge(random_state=0, strict=True).fit(frame, pd.Series(y, name="price"))
    assert np.array_equal(model.predict(frame), LandmarkRidge(random_state=0).fit(X, y).predict(X))
    assert model._model.feature_names == list("abcde") and model._model.target_name == "price"
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("bacde")])


def test_pickles(table):
    X, y = table
    for estimator in (
        Nystroem(n_components=20, random_state=0, scale="standard"),
        Nystroem(kernel="poly", n_components=8, degree=2, coef0=2.0, random_state=0),
        Nystroem(n_components=20, selector="kmeans", random_state=0),
        Nystroem(n_components=20, random_state=0, scale="clipped"),
        LandmarkRidge(random_state=0),
        LandmarkRidge(random_state=0, scale="clipped"),
    ):
        fitted = estimator.fit(X, y)
        again = pickle.loads(pickle.dumps(fitted))
        work = "predict" if hasattr(fitted, "predict") else "transform"
        assert np.array_equal(getattr(fitted, work)(X), getattr(again, work)(X))
        assert fitted.__dict__.keys() == again.__dict__.keys()


def test_single_precision_stays(table):
    X, y = (values.astype(np.float32) for values in table)
    for selector in ("kdpp", "rpcholesky"):
        single = Nystroem(n_components=30, selector=selector, sigma=20.0, random_state=0).fit(X)
        assert single.transform(X).dtype == single.components_.dtype == np.float32
        # The landmarks are those of single precision; their features are computed in double precision.
        double = Nystroem(sigma=20.0, landmarks=single.component_indices_).fit(X.astype(np.float64))
        assert np.allclose(single.transform(X), double.transform(X.astype(np.float64)), rtol=1e-5, atol=1e-6)
    model = LandmarkRidge(metric="one", scale=None, landmarks=np.arange(0, 700, 10), sigma=4.0, alpha=1.0)
    single = model.fit(X, y).predict(X)
    double = clone(model).fit(X.astype(np.float64), y).predict(X.astype(np.float64))
    # A fit in single precision, which is not that of double precision.
    assert single.dtype == np.float32 and np.allclose(single, double, rtol=0, atol=1e-3) and not np.allclose(single, double, rtol=0, atol=1e-9)


@pytest.mark.parametrize("own, usual", [("gaussian", "rbf"), ("laplace", "laplacian")])
def test_kernels_have_the_names_of_the_program_too(own, usual):
    X = np.random.default_rng(0).normal(size=(60, 3))
    map_of = lambda kernel: Nystroem(kernel=kernel, gamma=0.3, n_components=9, random_state=0).fit_transform(X)
    assert np.array_equal(map_of(own), map_of(usual))


def test_any_layout_of_memory(table):
    X, y = table
    model = LandmarkRidge(metric="one", random_state=0)
    expected = model.fit(X, y).predict(X)
    padded = np.zeros((1400, 7))
    padded[::2, 1:6] = X
    packed = np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    assert not packed.flags.aligned
    readonly = X.copy()
    readonly.setflags(write=False)
    for layout in (np.asfortranarray(X), padded[::2, 1:6], X.astype(">f8"), X.astype(object), packed, readonly, X.tolist()):
        fitted = clone(model).fit(layout, y.astype(">f8"))
        assert np.array_equal(fitted.predict(layout), expected)
    single = X.astype(np.float32)
    fitted = Nystroem(n_components=9, random_state=0).fit(single)
    assert np.array_equal(fitted.transform(single), fitted.transform(np.asfortranarray(single)))


def test_samples_follow_their_law():
    """Sets of two of four rows: frequencies against quotients of determinants."""
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(4, 4))
    matrix = factor @ factor.T
    sets = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    weights = np.array([np.linalg.det(matrix[np.ix_(pair, pair)]) for pair in sets])
    for matrix_in, exact in ((matrix, True), (matrix.astype(np.float32), True), (matrix, False), (matrix.astype(np.float32), False)):
        samples = sample_cdpp(matrix_in, 2, n_samples=3000, exact=exact, steps=None if exact else 64, random_state=1, n_jobs=1)
        counts = np.array([(samples == pair).all(axis=1).sum() for pair in sets])
        expected = 3000 * weights / weights.sum()
        # Chi-square with five degrees of freedom is larger than this with probability 0.001.
        assert counts.sum() == 3000 and ((counts - expected) ** 2 / expected).sum() < 20.5


def test_a_matrix_selects_as_its_rows_do(table):
    X = table[0][:, :2] / table[0][:, :2].std(axis=0)
    matrix = rbf_kernel(X, gamma=0.5)
    for selector in ("greedy", "rpcholesky"):
        of_rows = select(X, 12, gamma=0.5, selector=selector, random_state=0)
        assert np.array_equal(select(matrix, 12, kernel="precomputed", selector=selector, random_state=0), of_rows)


def transformed(estimator, X):
    return estimator.fit_transform(X)


@pytest.mark.parametrize("rows", [400, 4000])
def test_a_forked_process_has_threads_of_its_own(rows):
    """And a small fit needs none."""
    X = np.random.default_rng(0).normal(size=(rows, 4))
    estimator = Nystroem(n_components=20, random_state=0)
    expected = estimator.fit_transform(X)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert np.array_equal(pool.apply_async(transformed, (estimator, X)).get(60), expected)


@pytest.mark.parametrize("scale", ["standard", None])
def test_a_row_of_weight_w_is_w_rows(table, scale):
    X, y = table[0][:300], table[1][:300]
    weights = np.arange(300) % 4
    present = np.flatnonzero(weights)
    repeated = np.repeat(np.arange(300), weights)
    landmarks = present[::9]
    own = {"metric": "one", "sigma": 2.0, "scale": scale, "random_state": 0}
    places = np.searchsorted(repeated, landmarks)
    for alpha in (0.5, 20.0):
        weighted = LandmarkRidge(alpha=alpha, landmarks=landmarks, **own).fit(X, y, sample_weight=weights)
        expected = LandmarkRidge(alpha=alpha, landmarks=places, **own).fit(X[repeated], y[repeated])
        assert np.allclose(weighted.predict(X), expected.predict(X), rtol=0, atol=1e-8)
        assert np.array_equal(weighted.component_indices_, landmarks) and weighted.alpha_ == pytest.approx(alpha)
        plain = LandmarkRidge(alpha=alpha, landmarks=landmarks, **own).fit(X, y)
        assert not np.allclose(weighted.predict(X), plain.predict(X), rtol=0, atol=1e-3)
    assert weighted.score(X, y, sample_weight=weights) == pytest.approx(weighted.score(X[repeated], y[repeated]))
    # In any unit, with alpha in proportion.
    tenfold = LandmarkRidge(alpha=200.0, landmarks=landmarks, **own).fit(X, y, sample_weight=10 * weights)
    assert np.allclose(weighted.predict(X), tenfold.predict(X), rtol=0, atol=1e-8)


@pytest.fixture(scope="module")
def flowers():
    """Rows of three classes, one of them rare."""
    rng = np.random.default_rng(5)
    labels = rng.choice(["ash", "beech", "cedar"], p=[0.5, 0.42, 0.08], size=600)
    centres = {"ash": [0, 0, 0, 0], "beech": [1.5, 1, 0, 0], "cedar": [0, 1.5, 1, 0]}
    return np.array([centres[label] for label in labels]) + 0.7 * rng.normal(size=(600, 4)), labels


def test_logits_are_stationary(flowers):
    """At the optimum of the penalised log-loss, logits are -K(p - y)/alpha beside the shares, K the approximation."""
    X, y = flowers
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for alpha, tolerance in [(60.0, 0.01), (6.0, 0.08)]:
        model = LandmarkClassifier(n_components=30, alpha=alpha, kernel="rbf", metric="one", random_state=0).fit(X, y)
        centres = Z[model.component_indices_]
        kernel = lambda A, B: np.exp(-np.square(A[:, None] - B).sum(axis=2) / (2 * model.sigma_**2))
        approximation = kernel(Z, centres) @ np.linalg.solve(kernel(centres, centres), kernel(centres, Z))
        indicators = y[:, None] == model.classes_
        logits = 4 * model.decision_function(X)
        weights = np.exp(logits)
        residuals = weights / weights.sum(axis=1, keepdims=True) - indicators
        expected = 4 * indicators.mean(axis=0) - approximation @ residuals / alpha
        assert np.ptp(logits) > 1 and np.allclose(logits, expected, rtol=0, atol=tolerance)


def test_probabilities_are_those_of_outputs(flowers):
    X, y = flowers
    model = LandmarkClassifier(n_components=30, alpha=0.1, metric="one", random_state=0).fit(X, y)
    outputs = model.decision_function(X)
    assert np.array_equal(model.predict(X), model.classes_[outputs.argmax(axis=1)])
    weights = np.exp(outputs / model.temperature_)
    assert np.allclose(model.predict_proba(X), weights / weights.sum(axis=1, keepdims=True), rtol=0, atol=1e-9)
    two = LandmarkClassifier(n_components=30, random_state=0).fit(X[y != "cedar"], y[y != "cedar"])
    decision = two.decision_function(X)
    assert decision.shape == (600,) and np.array_equal(two.predict(X), np.where(decision > 0, "beech", "ash"))
    single = two.predict_proba(X.astype(np.float32))
    assert single.dtype == np.float32 and np.allclose(single.sum(axis=1), 1, atol=1e-5)


def test_class_weights_are_weights_of_rows(flowers):
    X, y = flowers
    own = {"n_components": 30, "metric": "one", "random_state": 0}
    plain = LandmarkClassifier(**own).fit(X, y)
    balanced = LandmarkClassifier(class_weight="balanced", **own).fit(X, y)
    frequency = {label: (y == label).sum() for label in plain.classes_}
    weights = np.array([600 / (3 * frequency[label]) for label in y])
    rows = LandmarkClassifier(**own).fit(X, y, sample_weight=weights)
    assert np.allclose(balanced.decision_function(X), rows.decision_function(X), rtol=0, atol=1e-12)
    rare = y == "cedar"
    assert (balanced.predict(X[rare]) == "cedar").mean() > (plain.predict(X[rare]) == "cedar").mean() + 0.1
    both = LandmarkClassifier(class_weight={"ash": 2.0}, **own).fit(X, y, sample_weight=weights)
    again = LandmarkClassifier(**own).fit(X, y, sample_weight=np.where(y == "ash", 2 * weights, weights))
    assert np.array_equal(both.decision_function(X), again.decision_function(X))
    without = LandmarkClassifier(**own).fit(X, y, sample_weight=(~rare).astype(float))
    assert without.classes_.tolist() == ["ash", "beech"]


def test_classes_in_scikit_learn(flowers):
    X, y = flowers
    frame, series = pd.DataFrame(X, columns=list("abcd")), pd.Series(y, name="tree")
    model = LandmarkClassifier(random_state=0).fit(frame, series)
    assert list(model.feature_names_in_) == list("abcd") and set(model.predict(frame)) <= set(y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
    search = GridSearchCV(make_pipeline(LandmarkClassifier(random_state=0)), {"landmarkclassifier__sigma": [2.0, 0.001]}, scoring="neg_log_loss")
    assert search.fit(X, y).best_params_ == {"landmarkclassifier__sigma": 2.0}
    numbers = np.searchsorted(model.classes_, y) * 3 - 3
    fitted = clone(model).fit(X, numbers)
    assert fitted.classes_.tolist() == [-3, 0, 3] and fitted.classes_.dtype == numbers.dtype
    assert np.array_equal(fitted.predict(X), np.searchsorted(model.classes_, model.predict(frame)) * 3 - 3)


def test_a_precomputed_kernel_has_the_features_of_its_rows(table):
    X = table[0][:, :4]
    rows, others = X[:500], X[500:]
    matrix, cross = rbf_kernel(rows, gamma=0.1), rbf_kernel(others, rows, gamma=0.1)
    of_kernel = Nystroem(kernel="precomputed", n_components=30, selector="kdpp", random_state=0).fit(matrix)
    assert np.array_equal(of_kernel.component_indices_, select(matrix, 30, kernel="precomputed", random_state=0))
    of_rows = Nystroem(kernel="rbf", gamma=0.1, landmarks=of_kernel.component_indices_).fit(rows)
    for kernel, features in [(matrix, rows), (cross, others)]:
        np.testing.assert_allclose(of_kernel.transform(kernel), of_rows.transform(features), rtol=0, atol=1e-9)
    again = pickle.loads(pickle.dumps(of_kernel))
    assert np.array_equal(again.transform(cross), of_kernel.transform(cross))
    single = of_kernel.transform(cross.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, of_kernel.transform(cross), rtol=0, atol=1e-3)
    # Folds have the rows and the columns of their training rows.
    y = table[1][:500]
    landmarks = np.arange(0, 300, 10)
    scores = [
        cross_val_score(make_pipeline(Nystroem(kernel=kernel, landmarks=landmarks, **more), Ridge()), data, y, cv=5)
        for kernel, data, more in [("precomputed", matrix, {}), ("rbf", rows, {"gamma": 0.1})]
    ]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-6)
    for params, given in [
        ({}, matrix[:, :10]),
        ({"gamma": 0.1}, matrix),
        ({"sigma": 2.0}, matrix),
        ({"scale": "standard"}, matrix),
        ({"metric": "map"}, matrix),
        ({"selector": "kmeans"}, matrix),
    ]:
        with pytest.raises(ValueError):
            Nystroem(kernel="precomputed", **params).fit(given)


@pytest.mark.parametrize("metric", ["scales", "map:3", "auto"])
def test_features_in_a_learned_metric_suit_the_target(table, metric):
    X, y = table
    y = np.sin(X[:, 0]) * np.cos(X[:, 3] / 3) + 0.1 * y
    params = {"n_components": 40, "scale": "standard", "random_state": 3}

    def error(predicted):
        return np.std(predicted - y[500:])

    def ridge(features):
        return Ridge(alpha=model.alpha_).fit(features.transform(X[:500]), y[:500]).predict(features.transform(X[500:]))

    # The regression learns its metric without the rows that it leaves out.
    model = LandmarkRidge(metric=metric, **params).fit(X[:500], y[:500])
    features = Nystroem(metric=metric, **params).fit(X[:500], y[:500])
    assert features.metric_ != "one" and model.metric_ != "one"
    assert error(ridge(features)) < 1.4 * error(model.predict(X[500:]))
    assert error(ridge(features)) < 0.8 * error(ridge(Nystroem(metric="one", **params).fit(X[:500])))
    again = pickle.loads(pickle.dumps(features))
    assert np.array_equal(again.transform(X), features.transform(X)) and again.metric_ == metric.replace("auto", features.metric_)


def test_a_metric_is_learned_from_classes_and_needs_a_target(table):
    X, y = table
    labels = np.where(y > 0.5, "high", np.where(y < -0.5, "low", "mid"))
    params = {"n_components": 30, "metric": "map:2", "scale": "standard", "random_state": 0}
    features = Nystroem(**params).fit(X, labels)
    assert features.metric_ == "map:2"
    assert not np.array_equal(features.component_indices_, Nystroem(**params).fit(X, y).component_indices_)
    with pytest.raises(ValueError, match="give y"):
        Nystroem(metric="map").fit(X)
    # Points that are no rows are given in the units of the rows, as near to the mean as the map allows.
    points = Nystroem(**params | {"selector": "kmeans"}).fit(X, y)
    assert not hasattr(points, "component_indices_") and points.components_.shape == (30, 5)
    kernel = points.transform(points.components_)
    np.testing.assert_allclose(np.sum(kernel**2, axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize("exact", [False, True])
def test_samples_with_a_quality_have_its_law(exact):
    matrix = np.array([[4.0, 1.0, 0.0, 1.0], [1.0, 3.0, 1.0, 0.0], [0.0, 1.0, 2.0, 1.0], [1.0, 0.0, 1.0, 5.0]])
    quality = np.array([1.0, 2.0, 3.0, 0.5])
    likelihood = quality[:, None] * matrix * quality
    pairs = [(1, other) for other in (0, 2)]
    weights = np.array([np.linalg.det(likelihood[np.ix_(pair, pair)]) for pair in pairs])
    options = {"quality": quality, "include": [1], "exclude": [3]}
    samples = sample_cdpp(matrix, 2, n_samples=2000, exact=exact, random_state=0, **options)
    share = (samples[:, 0] == 0).mean()
    expected = weights[0] / weights.sum()
    assert (samples == 1).any(axis=1).all() and not (samples == 3).any()
    # Four and a half standard deviations.
    assert abs(share - expected) < 4.5 * np.sqrt(expected * (1 - expected) / 2000)
    assert sample_cdpp(matrix, 1, exact=exact, random_state=0, include=[2]).tolist() == [2]


def test_inclusion_probabilities_are_shares_of_samples():
    X = np.random.default_rng(0).normal(size=(12, 2))
    quality = np.linspace(0.5, 2, 12)
    for given in ({}, {"quality": quality}, {"quality": quality, "include": [4], "exclude": [1, 2]}):
        options = {"kernel": "rbf", "sigma": 1.0, **given}
        probabilities = inclusion_probabilities(X, 4, **options)
        assert np.isclose(probabilities.sum(), 4)
        samples = sample_cdpp(X, 4, n_samples=4000, exact=True, random_state=1, **options)
        shares = np.bincount(samples.ravel(), minlength=12) / 4000
        deviation = np.sqrt(probabilities * (1 - probabilities) / 4000)
        assert (abs(shares - probabilities) <= 4.5 * deviation + 1e-9).all()
    assert inclusion_probabilities(X, 2, kernel="rbf", include=[3, 5]).tolist() == [float(row in (3, 5)) for row in range(12)]


def test_exact_samples_of_many_embeddings():
    X = np.random.default_rng(0).normal(size=(30_000, 24)) * (1 + np.arange(30_000) % 3)[:, None]
    options = {"kernel": "linear", "random_state": 0}
    samples = sample_cdpp(X, 20, n_samples=200, exact=True, **options)
    assert samples.shape == (200, 20) and len(np.unique(samples)) > 1000
    probabilities = inclusion_probabilities(X, 20, kernel="linear")
    assert np.isclose(probabilities.sum(), 20)
    # Rows of the largest norm make up a third of the rows, and most of the samples.
    long = np.arange(30_000) % 3 == 2
    share = long[samples].mean(), probabilities[long].sum() / 20
    assert abs(share[0] - share[1]) < 0.05 and share[1] > 0.55
    assert np.array_equal(samples[0], select(X, 20, selector="kdpp-exact", **options))


def test_exact_samples_of_many_rows_under_a_gaussian_kernel():
    X = np.random.default_rng(0).normal(size=(10_500, 2)) * (1 + 3 * (np.arange(10_500) % 4 == 0))[:, None]
    options = {"kernel": "rbf", "sigma": 2.0, "include": [5]}
    samples = sample_cdpp(X, 6, n_samples=80, exact=True, random_state=0, **options)
    assert samples.shape == (80, 6) and (samples == 5).any(axis=1).all()
    probabilities = inclusion_probabilities(X, 6, **options)
    assert np.isclose(probabilities.sum(), 6) and probabilities[5] == 1
    # A quarter of the rows is far apart, and has most of the samples.
    far = np.arange(10_500) % 4 == 0
    share = far[samples].mean(), probabilities[far].sum() / 6
    assert abs(share[0] - share[1]) < 0.12 and share[1] > 0.4
