"""Bad input: exceptions that say what is wrong, and no panic."""

import numpy as np
import pytest

from dpp_nystrom import LandmarkClassifier, LandmarkRidge, Nystroem, _native, _parameters, sample_cdpp, select

X = np.random.default_rng(0).normal(size=(50, 3))
Y = X[:, 0] + X[:, 1]


def fits(X, y=Y):
    """All ways in."""
    yield lambda: Nystroem(random_state=0, strict=True).fit(X)
    yield lambda: LandmarkRidge(random_state=0, strict=True).fit(X, y)
    yield lambda: LandmarkRidge(random_state=0).partial_fit(X, y)
    yield lambda: select(X, 3, random_state=0)
    yield lambda: sample_cdpp(X, 3, kernel="rbf", random_state=0)
    yield lambda: Nystroem(random_state=0, strict=True).fit(globals()["X"]).transform(X)
    yield lambda: LandmarkRidge(random_state=0, strict=True).fit(globals()["X"], Y).predict(X)


def with_value(value):
    changed = X.copy()
    changed[17, 1] = value
    return changed


@pytest.mark.parametrize(
    "rows, message",
    [
        (with_value(np.nan), "NaN"),
        (with_value(np.inf), "infinity"),
        (np.zeros((0, 3)), "sample"),
        (np.zeros((50, 0)), "feature"),
        (np.float64(3.0), "[Ee]xpected 2D array"),
        (X[:, 0], "[Ee]xpected 2D array"),
        (X.reshape(5, 10, 3), "dim 3"),
        (X + 1j, "[Cc]omplex"),
    ],
)
def test_rows(rows, message):
    for fit in fits(rows):
        with pytest.raises((ValueError, TypeError), match=message):
            fit()


@pytest.mark.parametrize("words", [["yes", "no"] * 25, np.array(["1", "b"] * 25), np.array([1.5, "b"] * 25, dtype=object)])
def test_words_as_numbers(words):
    for strict in (False, True):
        with pytest.raises(ValueError, match="y holds words, such as '(yes|b)', and LandmarkRidge predicts numbers; use LandmarkClassifier"):
            LandmarkRidge(strict=strict).fit(X, words)


def test_values_that_overflow():
    huge = X / abs(X).max() * 1.7e308
    for fit in fits(huge):
        # Rows that are finite while their distances are not.
        try:
            found = fit()
        except ValueError:
            continue
        assert np.isfinite(found).all() if isinstance(found, np.ndarray) else True


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"n_components": 0}, "at least 1"),
        ({"n_components": 2.5}, "whole number"),
        ({"n_components": -1}, "at least 1"),
        ({"selector": "magic"}, "kdpp"),
        ({"selector_params": {"sweep": 1}}, "sweeps"),
        ({"selector_params": {"budget": -1.0}}, "seconds"),
        ({"kernel": "sigmoid"}, "matern52"),
        ({"gamma": 0.0}, "positive"),
        ({"gamma": np.nan}, "positive"),
        ({"gamma": 1.0, "sigma": 2.0}, "give one of them"),
        ({"gamma": 1.0, "kernel": "matern32"}, "use sigma"),
        ({"gamma": 1.0, "kernel": "polynomial"}, "leave out gamma"),
        ({"sigma": -1.0}, "positive"),
        ({"sigma": "mean"}, "median"),
        ({"sigma": 1e-200}, "bandwidth"),
        ({"scale": "minmax"}, "standard"),
        ({"degree": 0, "kernel": "poly"}, "at least 1"),
        ({"coef0": -1.0, "kernel": "poly"}, "offset"),
        ({"random_state": -1}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"landmarks": [0, 0]}, "twice"),
        ({"landmarks": [50]}, "49"),
        ({"landmarks": [-1]}, "from 0"),
        ({"landmarks": []}, "row indices"),
        ({"landmarks": [0.5]}, "row indices"),
    ],
)
def test_parameters(parameters, message):
    for estimator in (Nystroem(), LandmarkRidge()):
        with pytest.raises(ValueError, match=message):
            estimator.set_params(**parameters).fit(X, Y)


@pytest.mark.parametrize("value", [object(), [1, 2], {}, lambda x, y: 0.0, b"rbf"])
@pytest.mark.parametrize("name", sorted(set(LandmarkRidge().get_params()) - {"strict", "random_state"}))
def test_values_of_other_types(name, value):
    """The message names the parameter, and nothing of the extension module."""
    try:
        LandmarkRidge(**{name: value}).fit(X, Y)
    except (TypeError, ValueError) as error:
        assert "extract" not in str(error) and "Options" not in str(error)
        assert name in str(error) or name in ("landmarks", "alpha", "keep", "selector_params")


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": 0.1, "n_components": 20}, "leave out n_components"),
        ({"flash": 0}, "flash"),
        ({"flash": 2048, "n_components": 20, "metric": "map"}, "leave out n_components, metric"),
        ({"flash": 2048, "kernel": "auto"}, "leave out kernel"),
        ({"flash": 16}, "bytes"),
    ],
)
def test_parameters_of_regressions(parameters, message):
    with pytest.raises(ValueError, match=message):
        LandmarkRidge(**parameters).fit(X, Y)


def test_more_landmarks_than_rows():
    for estimator, rows in ((Nystroem(n_components=51), X), (Nystroem(n_components=51, kernel="precomputed"), np.eye(50))):
        with pytest.warns(UserWarning, match="50 landmarks are taken"):
            assert estimator.fit(rows).transform(rows).shape == (50, 50)
    with pytest.raises(ValueError, match="kernel='laplacian'"):
        Nystroem("laplacian").fit(X)
    with pytest.raises(ValueError, match="precomputed"):
        Nystroem(kernel=lambda x, y: 0.0).fit(X)


@pytest.mark.parametrize("variable, n_jobs, expected", [("1", None, 1), ("1", 3, 3), ("1", -1, None), ("many", None, None), ("100000", None, None)])
def test_a_process_of_joblib_keeps_to_its_share(monkeypatch, variable, n_jobs, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", variable)
    monkeypatch.setattr(_parameters, "cpu_count", lambda: 4)
    assert _parameters.threads(n_jobs) == expected


@pytest.mark.parametrize(
    "conditions, message",
    [
        ({"quality": np.ones(49)}, "shape"),
        ({"quality": np.full(50, -1.0)}, "at least 0"),
        ({"quality": np.full(50, np.nan)}, "finite"),
        ({"quality": np.r_[np.zeros(48), 1.0, 1.0]}, "only 2 rows"),
        ({"include": [1, 2, 3, 4]}, "4 rows to include"),
        ({"include": [1, 1]}, "twice"),
        ({"include": [50]}, "49"),
        ({"include": [0.5]}, "include"),
        ({"include": [4], "exclude": [4]}, "row 4"),
        ({"exclude": np.arange(48)}, "only 2 rows"),
        ({"selector": "kmeans", "include": [1]}, "kmeans"),
    ],
)
def test_conditions(conditions, message):
    with pytest.raises(ValueError, match=message):
        select(X, 3, random_state=0, **conditions)
    if "selector" not in conditions:
        for exact in (False, True):
            with pytest.raises(ValueError):
                sample_cdpp(X, 3, kernel="rbf", exact=exact, random_state=0, **conditions)


def test_targets_and_shapes():
    model = LandmarkRidge(random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="4 features"):
        model.predict(np.ones((3, 4)))
    for y in (Y[:-1], np.where(np.arange(50) == 3, np.nan, Y), np.ones(50), np.array(["a"] * 50)):
        with pytest.raises(ValueError):
            LandmarkRidge().fit(X, y)
    for alpha in (0.0, -1.0, np.nan, np.inf, "gcv"):
        with pytest.raises(ValueError):
            LandmarkRidge(alpha=alpha).fit(X, Y)
    with pytest.raises(ValueError, match="metric"):
        LandmarkRidge(metric="euclid").fit(X, Y)
    with pytest.raises(ValueError, match="square matrix"):
        sample_cdpp(X, 3)
    with pytest.raises(ValueError, match="needs one"):
        Nystroem(selector="refined-ridge").fit(X)
    same = np.ones((50, 3))
    with pytest.raises(ValueError, match="median"):
        Nystroem().fit(same)
    with pytest.raises(ValueError, match="independent"):
        Nystroem(gamma=1.0, n_components=2).fit(same)
    five = np.arange(100.0)[:, None] % 5
    with pytest.warns(UserWarning, match="5 landmarks of the 12 asked for"):
        assert len(LandmarkRidge(n_components=12, metric="one").fit(five, np.sin(five[:, 0])).components_) == 5
    with pytest.warns(UserWarning, match="of the 51 asked for"):
        assert len(LandmarkRidge(n_components=51, metric="one").fit(X, Y).components_) <= 50
    with pytest.raises(ValueError, match="independent"):
        LandmarkRidge(n_components=12, metric="one").partial_fit(five, np.sin(five[:, 0]))
    assert Nystroem(gamma=1.0).fit_transform(same).shape == (50, 1)


def test_files(tmp_path):
    model = LandmarkRidge(random_state=0).fit(X, Y)
    with pytest.raises(FileNotFoundError, match="none.dpp"):
        LandmarkRidge.load(tmp_path / "none.dpp")
    with pytest.raises(OSError):
        LandmarkRidge.load(tmp_path)
    with pytest.raises(OSError, match="cannot be written"):
        model.save(tmp_path / "none" / "model.dpp")
    model.save(tmp_path / "model.dpp")
    content = (tmp_path / "model.dpp").read_bytes()
    for damaged in (b"", content[:-1], content + b"\0", content[:40] + bytes([content[40] ^ 1]) + content[41:]):
        (tmp_path / "model.dpp").write_bytes(damaged)
        with pytest.raises(ValueError, match="model.dpp"):
            LandmarkRidge.load(tmp_path / "model.dpp")
    for arguments in ({"form": "fortran"}, {"form": "c", "quantise": "i4"}, {"form": "c", "include": ("all",)}):
        with pytest.raises(ValueError, match="expected"):
            model.export(**arguments)


def test_the_extension_checks_its_arguments_too():
    """Without the checks of scikit-learn before it."""
    options = {
        "kernel": "rbf", "sigma": "median", "degree": 3, "coef0": 1.0, "metric": "one", "count": 5, "selector": "kdpp",
        "landmarks": None, "sweeps": None, "budget": None, "steps": None, "ridge": "cv", "scale": None, "seed": 0, "threads": None,
        "quality": None, "include": [], "exclude": [], "tolerance": None, "flash": None, "progress": None,
    }  # fmt: skip
    names = {"features": None, "target": "y", "targets": None, "labels": None}
    for rows in (
        with_value(np.nan), np.zeros((0, 3)), np.zeros((3, 0)), np.asfortranarray(X), X[::2], X[0], np.float64(1), X.astype(">f8"),
        X.astype(object), X.tolist(), None,
    ):  # fmt: skip
        for call in (
            lambda: _native.Map(rows, None, names, options),
            lambda: _native.Model(rows, Y, None, names, options),
            lambda: _native.Sums(rows, Y, names, options),
            lambda: _native.select(rows, None, False, options),
            lambda: _native.select(rows, None, True, options | {"kernel": "linear"}),
            lambda: _native.sample_exact(rows, True, 1, options),
            lambda: _native.Map(X, None, names, options).transform(rows, None),
        ):
            with pytest.raises((ValueError, TypeError)):
                call()
    fitted = _native.Map(X, None, names, options)
    for wrong in (X[:, :2].copy(), np.ones((4, 4))):
        with pytest.raises(ValueError, match="expected 3"):
            fitted.transform(wrong, None)
    many = np.tile(X, (600, 1))
    many[29_000, 1] = np.nan
    for rows in (many, many.astype(np.float32)):
        for call in (lambda: fitted.transform(rows, 1), lambda: _native.Model(X, Y, None, names, options).predict(rows, 1)):
            with pytest.raises(ValueError, match="row 29000"):
                call()
    with pytest.raises(ValueError):
        _native.Model(X, Y[:-1].copy(), None, names, options)
    for weights in (np.ones(3), -np.ones(len(X)), np.zeros(len(X)), np.full(len(X), np.nan)):
        with pytest.raises(ValueError, match="weight"):
            _native.Model(X, Y, weights, names, options)
    for labels in (["a"], []):
        with pytest.raises(ValueError, match="no index of a label"):
            _native.Model(X, Y, None, names | {"labels": labels}, options)
    with pytest.raises(ValueError, match="names"):
        _native.Model(X, Y, None, names | {"features": ["a"]}, options)
    for scaler, landmarks in [
        (([0.0], [1.0, 1.0], None, None), [0.0]),
        (([0.0], [1.0], None, None), [np.nan]),
        (([0.0], [1.0], (2, [1.0, 1.0]), None), [0.0, 0.0]),
        (([0.0], [1.0], (1, [np.inf]), None), [0.0]),
        (([0.0], [1.0], (1, [1.0, 1.0]), None), [0.0]),
        (([0.0], [1.0], None, [3.0, 3.0]), [0.0]),
        (([0.0], [1.0], None, [-3.0]), [0.0]),
        (([0.0], [1.0], None, [np.nan]), [0.0]),
    ]:
        with pytest.raises(ValueError):
            _native.Map.of_state((scaler, landmarks, ("rbf", 0, 0.0), 1.0, None, None))
    for gram in [[], [1.0, 0.5], [0.0], [np.nan], [-1.0]]:
        with pytest.raises(ValueError):
            _native.GramMap(gram)
    with pytest.raises(ValueError):
        _native.Sums.of_state(b"", b"", None, None, None, ([], []))
    with pytest.raises(ValueError):
        _native.Model.of_bytes(b"", None, None)


@pytest.mark.parametrize("estimator", [LandmarkRidge(), LandmarkClassifier()])
def test_what_is_no_weight(estimator):
    y = Y > 0
    for wrong in (with_weight(np.nan), with_weight(np.inf), with_weight(-1.0), np.zeros(len(X)), np.ones(len(X) - 1), np.ones((len(X), 1))):
        with pytest.raises(ValueError):
            estimator.fit(X, y, sample_weight=wrong)


def with_weight(value):
    weights = np.ones(len(X))
    weights[7] = value
    return weights


def test_what_are_no_classes(tmp_path):
    model = LandmarkClassifier(random_state=0)
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.zeros(len(X), dtype=int))
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, Y > 0, sample_weight=(Y > 0).astype(float))
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, Y)
    model.fit(X, Y > 0)
    before, classes = model.predict(X), model.classes_
    with pytest.raises(ValueError):
        model.fit(X, np.full(len(X), "a"))
    assert np.array_equal(model.predict(X), before) and model.classes_ is classes
    model.save(tmp_path / "classes.dpp")
    LandmarkRidge(random_state=0).fit(X, Y).save(tmp_path / "numbers.dpp")
    with pytest.raises(ValueError, match="LandmarkClassifier.load"):
        LandmarkRidge.load(tmp_path / "classes.dpp")
    with pytest.raises(ValueError, match="LandmarkRidge.load"):
        LandmarkClassifier.load(tmp_path / "numbers.dpp")
