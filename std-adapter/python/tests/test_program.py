"""The same landmarks, models, predictions and exports as the command line, bit for bit."""

import json

import numpy as np
import pytest
from conftest import write_csv

from dpp_nystrom import LandmarkClassifier, LandmarkRidge, Nystroem, sample_cdpp, select

METHODS = "auto kdpp kdpp-exact uniform kmeans++ rpcholesky greedy refined refined-ridge kmeans-snapped"


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


@pytest.mark.parametrize("method", ["kdpp", "kdpp-exact", "rpcholesky", "greedy", "refined"])
def test_quality_and_rows_to_include_and_exclude(program, table, tmp_path, method):
    X, y = table
    quality = np.round(np.random.default_rng(1).uniform(0, 3, len(X)), 3)
    columns = {f"f{feature}": column for feature, column in enumerate(X.T)} | {"q": quality, "y": y}
    data = write_csv(tmp_path / "rows.csv", columns)
    lists = ["--quality", "q", "--include", "7,3", "--exclude", "20-29"]
    out = tmp_path / "order.csv"
    arguments = ["--landmarks", 15, "--method", method, "--seed", 2, *lists]
    expected = json.loads(program("select", data, *arguments, "--json"))
    program("select", data, *arguments, "--out", out)
    common = {"selector": method, "scale": "standard", "random_state": 2, "quality": quality}
    lists = {"include": [7, 3], "exclude": np.arange(20, 30)}
    rows, gains = select(X, 15, **common, **lists, return_gains=True)
    assert rows[:2].tolist() == [7, 3] and not set(rows) & set(range(20, 30))
    assert rows.tolist() == expected["order"] and gains.tolist() == expected["gains"]
    assert sorted(rows) == expected["landmarks"] == select(X, 15, **common, **lists).tolist()
    written = np.loadtxt(out, skiprows=1, delimiter=",")
    assert np.array_equal(written[written[:, 1].argsort()], np.column_stack([rows, range(15), gains]))
    # Rows of a file are rows to include.
    more = json.loads(program("select", data, "--landmarks", 18, "--include", out, "--json", "--ignore", "q"))
    assert more["order"][:15] == expected["landmarks"]


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
        (["--tolerance", 0.2], {"tolerance": 0.2}),
        (["--flash", 2048], {"flash": 2048}),
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
    assert (fitted.test_error_, fitted.test_error_se_) == (info["test"]["nrmse"], info["test"]["nrmse_se"])
    importances = [(column["rise"], column["deviation"]) for column in info["importances"]]
    assert importances == list(zip(fitted.feature_importances_, fitted.feature_importances_std_, strict=True))
    scales = fitted.inverse_length_scales_
    assert (scales is None) == (fitted.metric_ == "one") and (scales is None or scales.tolist() == info["scales"])

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


@pytest.mark.parametrize("options, parameters", [([], {}), (["--metric", "one", "--weight", "w"], {"metric": "one"})])
@pytest.mark.parametrize("labels", [["pine", "oak", "ash"], [10, 9, 2]])
def test_classes(program, table, tmp_path, options, parameters, labels):
    X, y = table
    classes = np.array(labels)[np.digitize(y, [-0.3, 0.9])]
    weights = np.arange(len(X)) % 3 if "--weight" in options else None
    lines = ["a,b,c,d,e,w,kind"]
    lines += [",".join([*(repr(float(value)) for value in row), str(at % 3), str(kind)]) for at, (row, kind) in enumerate(zip(X, classes))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    aside = [] if weights is not None else ["--ignore", "w"]
    program("fit", tmp_path / "rows.csv", "--classes", "--model", tmp_path / "own.dpp", *options, *aside)
    program("predict", tmp_path / "own.dpp", tmp_path / "rows.csv", "--out", tmp_path / "out.csv")
    expected = [line.split(",") for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    model = LandmarkClassifier(random_state=0, **parameters).fit(X, classes, sample_weight=weights)
    assert [str(label) for label in model.predict(X)] == [line[0] for line in expected]
    assert model.predict_proba(X).max(axis=1).tolist() == [float(line[1]) for line in expected]
    outputs = np.sort(model.decision_function(X), axis=1)
    assert (outputs[:, -1] - outputs[:, -2]).tolist() == [float(line[2]) for line in expected]
    loaded = LandmarkClassifier.load(tmp_path / "own.dpp")
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.temperature_ == model.temperature_
    program("export", tmp_path / "own.dpp", "--to", "c", "--out", tmp_path / "own.h", "--name", "trees")
    assert loaded.export("c", name="trees") == (tmp_path / "own.h").read_bytes()


def test_a_model_is_exported_in_the_numbers_it_was_chosen_for(program, tmp_path):
    # More waves than the landmarks of single precision can follow.
    X = np.random.default_rng(0).uniform(-1, 1, size=(500, 3))
    y = np.sin(5 * X[:, 0]) * np.cos(5 * X[:, 1])
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y}
    data = write_csv(tmp_path / "rows.csv", columns)
    # Integers are chosen with most seeds; which seeds these are differs between processors.
    for seed in range(10):
        fitted = json.loads(program("fit", data, "--flash", "1500", "--seed", str(seed), "--json", "--model", tmp_path / "m.dpp"))
        chosen = fitted["flash"]["chosen"]["numbers"]
        if chosen in ("i16", "i8"):
            break
    loaded = LandmarkRidge.load(tmp_path / "m.dpp")
    written = {}
    for quantise in [None, "f32", "i16", "i8"]:
        more = [] if quantise is None else ["--quantise", quantise]
        program("export", tmp_path / "m.dpp", "--to", "c", "--out", tmp_path / "out", "--name", "m", *more)
        written[quantise] = loaded.export("c", quantise=quantise, name="m")
        assert written[quantise] == (tmp_path / "out").read_bytes()
    assert chosen in ("i16", "i8")
    assert written[None] == written[chosen]


@pytest.mark.parametrize("classes", [False, True])
def test_groups_are_held_out_together(program, table, tmp_path, classes):
    X, y = table
    # Rows of a group share their noise, so that single rows held out look better than they are.
    groups = np.arange(len(X)) // 20
    y = y + np.random.default_rng(2).normal(size=len(X))[groups] + X[:, 1] * 0
    X = X + 0.01 * np.random.default_rng(3).normal(size=X.shape)
    X[:, 2] = np.random.default_rng(4).normal(size=len(X))[groups]
    y = (y > y.mean()).astype(float) if classes else y
    data = write_csv(tmp_path / "grouped.csv", {**{f"f{at}": column for at, column in enumerate(X.T)}, "g": groups, "y": y})
    model, options = tmp_path / "grouped.dpp", ["--classes"] if classes else []
    report = json.loads(program("fit", data, "--group", "g", *options, "--model", model, "--json"))
    kind = LandmarkClassifier if classes else LandmarkRidge
    fitted = kind(random_state=0).fit(X, y, groups=groups)
    assert not fitted.taken_ and fitted.n_features_in_ == X.shape[1]
    expected = [report["test"]["log_loss" if classes else "nrmse"], report["landmarks"]]
    assert [fitted.test_log_loss_ if classes else fitted.test_error_, fitted.component_indices_.tolist()] == expected
    if not classes:
        predictions = program("predict", model, data, "--ignore", "g").splitlines()[1:]
        assert fitted.predict(X).tolist() == [float(line) for line in predictions]
    words = [f"group {group}" for group in groups]
    assert kind(random_state=0).fit(X, y, groups=words).test_error_ == fitted.test_error_
    single = kind(random_state=0).fit(X, y)
    assert single.test_error_ < fitted.test_error_
    with pytest.raises(ValueError, match="inconsistent"):
        kind().fit(X, y, groups=groups[1:])


@pytest.mark.parametrize("weighted", [False, True])
def test_several_targets(program, table, tmp_path, weighted):
    X, y = table
    Y = np.column_stack([y, np.sin(3 * X[:, 0]) + X[:, 1]])
    weights = np.arange(len(X)) % 3 if weighted else None
    columns = {f"x{feature}": column for feature, column in enumerate(X.T)}
    columns |= {"w": np.arange(len(X)) % 3, "y0": Y[:, 0], "y1": Y[:, 1]}
    data = write_csv(tmp_path / "rows.csv", columns)
    use = ["--weight", "w"] if weighted else ["--ignore", "w"]
    program("fit", data, "--target", "y0,y1", "--model", tmp_path / "own.dpp", *use)
    program("predict", tmp_path / "own.dpp", data, "--out", tmp_path / "out.csv")
    expected = np.loadtxt(tmp_path / "out.csv", skiprows=1, delimiter=",")
    fitted = LandmarkRidge(random_state=0).fit(X, Y, sample_weight=weights)
    assert np.array_equal(fitted.predict(X), expected)
    assert fitted.dual_coef_.shape == (len(fitted.components_), 2) and np.allclose(fitted.intercept_, np.average(Y, axis=0, weights=weights))
    fitted.save(tmp_path / "saved.dpp")
    assert np.array_equal(LandmarkRidge.load(tmp_path / "saved.dpp").predict(X), expected)


def test_deviations_and_novelty(program, table, tmp_path):
    X, y = table
    data = write_csv(tmp_path / "rows.csv", {f"x{feature}": column for feature, column in enumerate(X.T)})
    fitted = LandmarkRidge(random_state=0, n_components=30).fit(X, y)
    fitted.save(tmp_path / "m.dpp")
    program("predict", tmp_path / "m.dpp", data, "--with", "variance,nearest", "--out", tmp_path / "out.csv")
    expected = np.loadtxt(tmp_path / "out.csv", skiprows=1, delimiter=",").T
    mean, std, novelty = fitted.predict(X, return_std=True, return_novelty=True)
    assert np.array_equal(mean, fitted.predict(X)) and np.array_equal(mean, expected[0])
    assert np.array_equal(std, np.sqrt(expected[1])) and np.array_equal(novelty, expected[2])
    assert np.array_equal(fitted.predict(X, return_std=True)[1], std)
    far = fitted.predict(X[:3] + 100 * X.std(axis=0), return_std=True, return_novelty=True)
    assert (far[1] > std.max()).all() and (far[2] > novelty.max()).all()
    # Most targets are within two deviations.
    assert 0.9 < (abs(y - mean) < 2 * std).mean() < 1
    with pytest.raises(ValueError, match="has no variances"):
        LandmarkRidge(random_state=0, n_components=30).partial_fit(X, y).predict(X, return_std=True)
    with pytest.raises(ValueError, match="of one target"):
        LandmarkRidge(random_state=0, n_components=30).fit(X, np.column_stack([y, y])).predict(X, return_std=True)
