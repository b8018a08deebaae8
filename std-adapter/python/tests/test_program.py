"""The same landmarks, models, predictions and exports as the command line, bit for bit."""

import json

import numpy as np
import pytest
from conftest import write_csv

from dpp_nystrom import LandmarkRidge, Nystroem, sample_cdpp, select

METHODS = "auto kdpp kdpp-exact uniform kmeans++ rpcholesky greedy lev applev adappart recursive-rls refined refined-ridge kmeans-snapped"


@pytest.fixture(scope="module")
def file(tmp_path_factory, table):
    X, y = table
    columns = {f"f{feature}": column for feature, column in enumerate(X.T)}
    return write_csv(tmp_path_factory.mktemp("rows") / "rows.csv", {**columns, "y": y})


def predicted(program, model, data, tmp_path):
    program("predict", model, data, "--out", tmp_path / "predictions.csv")
    return np.loadtxt(tmp_path / "predictions.csv", skiprows=1, ndmin=1)


@pytest.mark.parametrize("method", METHODS.split())
@pytest.mark.parametrize("kernel, own", [("gaussian", "rbf"), ("laplace", "laplacian")])
def test_landmarks(program, file, table, method, kernel, own):
    X, y = table
    arguments = ["--landmarks", 30, "--method", method, "--kernel", kernel, "--sigma", "median*2", "--seed", 3]
    expected = json.loads(program("select", file, *arguments, "--json"))
    common = {"kernel": own, "sigma": "median*2", "selector": method, "scale": "standard", "random_state": 3}
    assert select(X, 30, y=y, **common).tolist() == expected["landmarks"]
    fitted = Nystroem(n_components=30, **common).fit(X, y)
    assert fitted.component_indices_.tolist() == expected["landmarks"]
    assert fitted.sigma_ == expected["sigma"]
    assert np.array_equal(fitted.components_, X[fitted.component_indices_])


def test_points_of_kmeans(program, file, table):
    X, _ = table
    expected = json.loads(program("select", file, "--landmarks", 20, "--method", "kmeans", "--json"))["points"]
    found = Nystroem(n_components=20, selector="kmeans", scale="standard", random_state=0).fit(X)
    assert np.array_equal(found.components_, expected) and not hasattr(found, "component_indices_")
    with pytest.raises(ValueError, match="points, not rows"):
        select(X, 20, selector="kmeans")


def test_samples_of_a_cdpp(program, file, table):
    X, _ = table
    centred = X - X.mean(axis=0)
    X = np.divide(centred, X.std(axis=0), out=np.zeros_like(X), where=X.std(axis=0) > 0)
    for exact, method in [(False, "kdpp"), (True, "kdpp-exact")]:
        expected = json.loads(program("select", file, "--landmarks", 9, "--method", method, "--seed", 5, "--sigma", 2, "--json"))
        options = {"kernel": "rbf", "sigma": 2.0, "exact": exact, "random_state": 5}
        assert sample_cdpp(X, 9, **options).tolist() == expected["landmarks"]
        assert sample_cdpp(X, 9, n_samples=2, **options)[0].tolist() == expected["landmarks"]


@pytest.mark.parametrize(
    "options, parameters",
    [
        ([], {}),
        (["--seed", 4, "--landmarks", 60, "--metric", "map:2"], {"random_state": 4, "n_components": 60, "metric": "map:2"}),
        (["--metric", "one", "--sigma", "cv", "--ridge", "loo"], {"metric": "one", "sigma": "cv", "alpha": "loo"}),
        # The number of rows times this ridge is exact.
        (["--metric", "one", "--ridge", "0.015625"], {"metric": "one", "alpha": 700 / 64}),
        (["--metric", "one", "--kernel", "matern52", "--sigma", 3], {"metric": "one", "kernel": "matern52", "sigma": 3.0}),
        (["--metric", "one", "--kernel", "polynomial", "--landmarks", 12], {"metric": "one", "kernel": "poly", "n_components": 12}),
    ],
)
def test_models(program, file, table, tmp_path, options, parameters):
    X, y = table
    program("fit", file, "--model", tmp_path / "own.dpp", *options)
    expected = predicted(program, tmp_path / "own.dpp", file, tmp_path)
    fitted = LandmarkRidge(**{"random_state": 0, **parameters}).fit(X, y)
    assert np.array_equal(fitted.predict(X), expected)
    info = json.loads(program("info", tmp_path / "own.dpp", "--json"))
    assert fitted.alpha_ == info["ridge"] * len(X) and fitted.sigma_ in (info["sigma"], None)

    loaded = LandmarkRidge.load(tmp_path / "own.dpp")
    assert list(loaded.feature_names_in_) == [f"f{feature}" for feature in range(5)]
    assert np.array_equal(loaded.component_indices_, fitted.component_indices_)
    del loaded.feature_names_in_
    assert np.array_equal(loaded.predict(X), expected)
    fitted.save(tmp_path / "saved.dpp")
    data = write_csv(tmp_path / "unnamed.csv", {f"x{feature}": column for feature, column in enumerate(X.T)})
    assert np.array_equal(predicted(program, tmp_path / "saved.dpp", data, tmp_path), expected)


@pytest.mark.parametrize("form", ["c", "rust", "bytes"])
@pytest.mark.parametrize("quantise", [None, "i16", "i8"])
def test_exports(program, table, tmp_path, form, quantise):
    fitted = LandmarkRidge(random_state=0, n_components=20).fit(*table)
    fitted.save(tmp_path / "model.dpp")
    quantised = [] if quantise is None else ["--quantise", quantise]
    program("export", tmp_path / "model.dpp", "--to", form, "--out", tmp_path / "out", "--name", "houses", "--with", "novelty", *quantised)
    content = fitted.export(form, quantise=quantise, include=("novelty",), name="houses")
    assert content == (tmp_path / "out").read_bytes()
