"""A graph of a model, run by onnxruntime, predicts what the model does."""

import json

import numpy as np
import onnxruntime
import pytest
from sklearn import datasets

from dpp_nystrom import LandmarkClassifier, LandmarkRidge

DECAYING = ["rbf", "laplacian", "matern32", "matern52", "rational-quadratic"]
"""Kernels of distances, for which a metric can be learned."""


def session(content):
    return onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])


def difference(model, X, y):
    """Return the largest difference of an output, in deviations of the target; of classes, of a probability."""
    ran = session(model.export("onnx"))
    found = ran.run(None, {"rows": X})
    shape = [one.shape for one in ran.get_outputs()]
    if isinstance(model, LandmarkClassifier):
        assert found[0].tolist() == [str(label) for label in model.predict(X)]
        assert shape == [["N"], ["N", len(model.classes_)]]
        return np.abs(found[1] - model.predict_proba(X)).max()
    assert shape == [["N", 1 if y.ndim == 1 else y.shape[1]]] and found[0].dtype == X.dtype
    return (np.abs(found[0] - model.predict(X).reshape(found[0].shape)) / y.std(axis=0)).max()


@pytest.mark.parametrize("name", ["diabetes", "linnerud", "iris", "wine", "breast_cancer", "digits"])
def test_real_rows(name):
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    estimator = LandmarkRidge if name in ("diabetes", "linnerud") else LandmarkClassifier
    model = estimator(random_state=0).fit(X, y)
    found = difference(model, X, y)
    print(f"{name}: {found:.1e}, {len(model.export('onnx')):,} bytes of {len(model.components_)} landmarks, {model.metric_}")
    assert found < 1e-9


@pytest.mark.parametrize("kernel", DECAYING)
@pytest.mark.parametrize("metric", ["one", "map:2"])
def test_distances(table, kernel, metric):
    X, y = table
    model = LandmarkRidge(random_state=0, n_components=10, kernel=kernel, metric=metric).fit(X, y)
    assert difference(model, X, y) < 1e-9
    # Far from all landmarks exponentials are 0, and polynomials before them infinite.
    far = np.full((1, X.shape[1]), 1e160)
    assert session(model.export("onnx")).run(None, {"rows": far})[0] == pytest.approx(model.intercept_)


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_inner_products(table, kernel):
    X, y = table
    assert difference(LandmarkRidge(random_state=0, n_components=4, kernel=kernel).fit(X, y), X, y) < 1e-9


def test_single_precision(table):
    X, y = (array.astype(np.float32) for array in table)
    model = LandmarkRidge(random_state=0, n_components=30, scale=None, metric="one", selector="uniform").fit(X, y)
    ran = session(model.export("onnx"))
    assert ran.get_inputs()[0].type == "tensor(float)" and difference(model, X, y) < 1e-5


def test_what_is_not_a_number_gives_none(table):
    X, y = table
    ran = session(LandmarkRidge(random_state=0, n_components=10).fit(X, y).export("onnx"))
    X = X[:3].copy()
    X[1, 4] = np.nan  # in a constant feature
    assert np.isnan(ran.run(None, {"rows": X})[0]).ravel().tolist() == [False, True, False]


@pytest.mark.parametrize("missing", ["mean", "indicator"])
def test_gaps_are_filled_in_the_graph(program, table, tmp_path, missing):
    X, y = table
    X = X[:, :3].copy()
    X[::7, 1] = np.nan
    cell = lambda value: "" if np.isnan(value) else repr(float(value))
    lines = ["a,b,c,y"] + [",".join(map(cell, [*row, target])) for row, target in zip(X, y)]
    (tmp_path / "gaps.csv").write_text("\n".join(lines) + "\n")
    program("fit", tmp_path / "gaps.csv", "--missing", missing, "--model", tmp_path / "m.dpp", "--landmarks", 30)
    program("predict", tmp_path / "m.dpp", tmp_path / "gaps.csv", "--out", tmp_path / "out.npy")
    program("export", tmp_path / "m.dpp", "--to", "onnx", "--out", tmp_path / "m.onnx", "--name", "gaps")
    content = (tmp_path / "m.onnx").read_bytes()
    loaded = LandmarkRidge.load(tmp_path / "m.dpp")
    assert loaded.export("onnx", name="gaps") == content
    ran = session(content)
    about = ran.get_modelmeta().custom_metadata_map
    names = about["features"].split("\n")
    assert names == list(loaded.get_feature_names_out()) and about["targets"] == "y"
    assert about["digest"] == json.loads(program("info", tmp_path / "m.dpp", "--json"))["digest"]
    # The feature that tells gaps of b.
    told = {"b missing": np.where(np.isnan(X[:, 1]), np.nan, 0.0)}
    rows = np.column_stack([told[name] if name in told else X[:, "abc".index(name)] for name in names])
    assert (missing == "indicator") == ("b missing" in names)
    found = ran.run(None, {"rows": rows})[0].ravel()
    assert np.abs(found - np.load(tmp_path / "out.npy").ravel()).max() < 1e-9 * y.std()


def test_options_of_devices_are_refused(table):
    model = LandmarkRidge(random_state=0, n_components=10).fit(*table)
    for options in [{"quantise": "f32"}, {"include": ("novelty",)}]:
        with pytest.raises(ValueError, match="omit quantise and include"):
            model.export("onnx", **options)
