"""Frames, words, gaps and sparse matrices, by the rules of the program."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import datasets
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from dpp_nystrom import LandmarkClassifier, LandmarkRidge, Nystroem, select

FAST = {"metric": "one", "kernel": "rbf", "random_state": 0}


@pytest.fixture(scope="module")
def houses():
    """A table with what real ones have, and a target."""
    rng, n = np.random.default_rng(3), 240
    frame = pd.DataFrame(
        {
            "": rng.permutation(n) + 1,
            " area ": rng.gamma(3.0, 30.0, n),
            "rooms": pd.array(rng.choice([2, 3, 4, None], n), dtype="Int64"),
            "heating": rng.choice(["gas", "oil", "none", None], n),
            "garden": rng.choice([True, False], n),
            "sold": pd.Timestamp("2014-01-31") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "order": np.arange(n) * 3,
            "empty": np.full(n, np.nan),
            "roof": "flat",
            "doors": rng.choice(["2", "3", "5more"], n),
            "tax": [f"${value:,.2f}" for value in rng.uniform(1_000, 9_000, n)],
        }
    )
    frame.loc[rng.random(n) < 0.1, " area "] = np.nan
    price = frame[" area "].fillna(90) / 30 + (frame.heating == "gas") + frame.garden * 0.5 + 0.1 * rng.normal(size=n)
    return frame, price.rename("price")


def fitted(estimator, X, y, **more):
    """Fit without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y, **more)


def by_program(program, folder, frame, target, *options):
    """Return the model that the program fits to the CSV file of a frame, and what it predicts."""
    frame.assign(**{target.name: target}).to_csv(folder / "data.csv", index=False)
    model, out = folder / "m.dpp", folder / "out.csv"
    program("fit", folder / "data.csv", "--target", target.name, "--model", model, *options)
    program("predict", model, folder / "data.csv", "--out", out)
    return model, [line.split(",")[0] for line in out.read_text().splitlines()[1:]]


@pytest.fixture
def program(program):
    """Run the program on tables as they are."""
    return lambda *arguments: program(*map(str, arguments), strict=False)


def test_a_frame_gives_the_model_of_its_file(program, houses, tmp_path):
    frame, price = houses
    path, predicted = by_program(program, tmp_path, frame, price)
    model = fitted(LandmarkRidge(random_state=0), frame, price)
    assert model.predict(frame).tolist() == [float(number) for number in predicted]
    loaded = LandmarkRidge.load(path)
    assert loaded.export("bytes") == model.export("bytes")
    # A model that was loaded finds its columns by their names, and knows no others.
    names = loaded.feature_names_in_.tolist()
    assert names == ["area", "rooms", "heating", "garden", "sold", "doors", "tax"]
    assert np.array_equal(loaded.predict(frame), model.predict(frame))
    assert np.array_equal(loaded.predict(frame.rename(columns=str.strip)[names[::-1]]), model.predict(frame))
    with pytest.raises(ValueError, match="heating"):
        loaded.predict(frame.drop(columns="heating"))
    polar = pl.from_pandas(frame)
    polar.columns = list(frame.columns)
    of_polars = fitted(LandmarkRidge(random_state=0), polar, pl.Series("price", price.to_numpy()))
    assert of_polars.export("bytes") == model.export("bytes")
    assert np.array_equal(of_polars.predict(polar), model.predict(frame))
    model.save(tmp_path / "own.dpp")
    program("predict", tmp_path / "own.dpp", tmp_path / "data.csv", "--out", tmp_path / "own.csv")
    assert (tmp_path / "own.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()


@pytest.mark.parametrize("name", ["iris", "wine", "diabetes", "breast_cancer"])
def test_tables_of_scikit_learn_give_the_models_of_their_files(program, tmp_path, name):
    frame, target = getattr(datasets, f"load_{name}")(as_frame=True, return_X_y=True)
    classes = name != "diabetes"
    options = ["--classes"] if classes else []
    path, predicted = by_program(program, tmp_path, frame.iloc[:300], target[:300], *options)
    model = fitted((LandmarkClassifier if classes else LandmarkRidge)(random_state=0), frame[:300], target[:300])
    assert [str(value) if classes else value for value in model.predict(frame[:300]).tolist()] == [
        value if classes else float(value) for value in predicted
    ]
    assert model.export("bytes") == type(model).load(path).export("bytes")


@pytest.mark.parametrize("labels", [["pine", "oak", "none"], [10, 9, 2], [0.5, 1.0, 2.5], [True, False, True]])
def test_classes_of_any_labels(program, houses, tmp_path, labels):
    frame, price = houses
    target = pd.Series(np.array(labels)[np.digitize(price, [3.0, 5.0])], name="kind")
    frame = frame.drop(columns=["sold", "tax"])
    _, predicted = by_program(program, tmp_path, frame, target, "--classes", "--metric", "one", "--kernel", "gaussian")
    model = fitted(LandmarkClassifier(**FAST), frame, target) if target.dtype.kind != "f" else None
    if model is None:
        with pytest.raises(ValueError, match="continuous"):
            LandmarkClassifier().fit(frame, target)
        return
    assert model.classes_.tolist() == sorted(set(labels))
    assert [str(label) for label in model.predict(frame)] == predicted
    assert set(model.predict(frame).tolist()) <= set(labels)
    nullable = fitted(LandmarkClassifier(**FAST), frame, target.convert_dtypes())
    assert nullable.classes_.tolist() == model.classes_.tolist() and nullable.score(frame, target) == model.score(frame, target)
    balanced = fitted(LandmarkClassifier(class_weight="balanced", **FAST), frame, target)
    counts = target.map(target.value_counts())
    weighted = fitted(LandmarkClassifier(**FAST), frame, target, sample_weight=len(target) / (len(set(labels)) * counts))
    assert np.allclose(balanced.predict_proba(frame), weighted.predict_proba(frame), rtol=0, atol=1e-12)


def test_targets_with_gaps_and_several_and_weights(program, houses, tmp_path):
    frame, price = houses
    frame, options = frame.drop(columns=["sold", "tax", "doors"]), ["--metric", "one", "--kernel", "gaussian"]
    gaps = price.where(price.index % 7 > 0)
    path, predicted = by_program(program, tmp_path, frame, gaps, *options)
    with pytest.warns(UserWarning, match="35 rows without a target left out"):
        model = LandmarkRidge(**FAST).fit(frame, gaps)
    assert model.predict(frame).tolist() == [float(number) for number in predicted]
    assert not (model.component_indices_ % 7 == 0).any()
    assert np.array_equal(model.component_indices_, LandmarkRidge.load(path).component_indices_)
    targets = pd.DataFrame({"price": price, "double": 2 * price + frame.garden})
    weights = np.arange(len(frame)) % 3
    model = fitted(LandmarkRidge(**FAST), frame, targets, sample_weight=weights)
    frame.assign(w=weights, **targets).to_csv(tmp_path / "data.csv", index=False)
    arguments = ["--target", "price,double", "--weight", "w", "--model", tmp_path / "m.dpp", *options]
    program("fit", tmp_path / "data.csv", *arguments)
    program("predict", tmp_path / "m.dpp", tmp_path / "data.csv", "--out", tmp_path / "out.csv")
    assert np.array_equal(model.predict(frame), np.loadtxt(tmp_path / "out.csv", skiprows=1, delimiter=","))


def test_what_became_of_columns_is_said_and_can_be_undone(houses):
    frame, price = houses
    with pytest.warns(UserWarning, match='left out: "x0": an id.*"order": an id.*"empty": empty; "roof": "flat" in every row') as said:
        model = LandmarkRidge(**FAST).fit(frame, price)
    assert len(said) == 1 and said[0].filename == __file__
    left_out = [taken["column"] for taken in model.taken_ if taken["left_out"]]
    assert left_out == ["x0", "order", "empty", "roof"]
    assert {taken["column"]: taken["what"] for taken in model.taken_}["tax"].startswith("numbers with $")
    assert list(model.feature_names_in_) == list(frame.columns) and model.n_features_in_ == 11
    names = model.get_feature_names_out().tolist()
    assert names[:7] == ["area", "area missing", "rooms", "rooms missing", "heating=gas", "heating=none", "heating=oil"]
    assert len(names) == model.components_.shape[1]
    importances = dict(zip(frame.columns, model.feature_importances_, strict=True))
    assert max(importances, key=importances.get) == " area " and importances["roof"] == importances["order"] == 0
    kept = fitted(LandmarkRidge(keep=["order", 0], categorical_features=["rooms"], missing="mean", **FAST), frame, price)
    names = kept.get_feature_names_out().tolist()
    assert {"x0", "order", "rooms=2", "rooms=3"} <= set(names) and not any(name.endswith("missing") for name in names)
    assert np.isfinite(kept.predict(frame.astype({"rooms": "float64"}))).all()
    assert np.array_equal(kept.predict(frame.astype({"rooms": "float64"})), kept.predict(frame))
    with pytest.raises(ValueError, match='row 0, column "area": NaN'):
        LandmarkRidge(strict=True).fit(frame.drop(columns="empty"), price)
    whole = frame[["order", "garden", "roof"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        strict = LandmarkRidge(strict=True, **FAST).fit(whole, price)
    assert strict.get_feature_names_out().tolist() == ["order", "garden", "roof=flat"] and not strict.taken_
    for parameters in ({"keep": ["orders"]}, {"categorical_features": [11]}, {"missing": "median"}):
        with pytest.raises(ValueError, match="invalid (keep|categorical_features|missing)"):
            LandmarkRidge(**parameters).fit(frame, price)


def test_words_that_were_not_seen_are_counted(houses):
    frame, price = houses
    model = fitted(LandmarkRidge(**FAST), frame, price)
    new = frame.copy()
    new.loc[:4, "heating"] = "sun"
    with pytest.warns(UserWarning, match="5 words were in no training row"):
        predicted = model.predict(new)
    assert np.array_equal(predicted[5:], model.predict(frame)[5:])
    with pytest.raises(ValueError, match='row 0, column "heating"'):
        model.set_params(strict=True).predict(new)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])
    again = pickle.loads(pickle.dumps(model.set_params(strict=False)))
    assert np.array_equal(again.predict(frame), model.predict(frame))


def test_categories_keep_their_order():
    rng = np.random.default_rng(0)
    size = pd.Categorical(rng.choice(["low", "mid", "high"], 90), ["low", "mid", "high", "vast"], ordered=True)
    code = pd.Series(rng.choice([7, 30, 200], 90)).astype("category")
    frame = pd.DataFrame({"size": size, "code": code, "v": rng.normal(size=90)})
    y = frame.v + size.codes
    names = fitted(LandmarkRidge(**FAST), frame, y).get_feature_names_out().tolist()
    assert names == ["size=low", "size=mid", "size=high", "code=200", "code=30", "code=7", "v"]
    names = fitted(LandmarkRidge(categorical_features=None, **FAST), frame, y).get_feature_names_out().tolist()
    assert names == ["size=high", "size=low", "size=mid", "code", "v"]
    polar = pl.DataFrame({"size": pl.Series(list(size), dtype=pl.Enum(["low", "mid", "high", "vast"])), "v": frame.v.to_numpy()})
    assert LandmarkRidge(**FAST).fit(polar, y).get_feature_names_out().tolist() == ["size=low", "size=mid", "size=high", "v"]


def test_arrays_with_gaps_and_words(table):
    X, y = table[0][:, :4], np.sin(table[0][:, 0])
    gaps = X.copy()
    gaps[::9, 1] = np.nan
    model = fitted(LandmarkRidge(**FAST), gaps, y)
    assert model.get_feature_names_out().tolist() == ["x0", "x1", "x1 missing", "x2", "x3"] and model.score(gaps, y) > 0.5
    for other in (gaps.astype(object), np.where(np.isnan(gaps), None, gaps), pd.DataFrame(gaps)):
        same = fitted(LandmarkRidge(**FAST), other, y)
        assert np.array_equal(same.predict(other), model.predict(gaps))
    # The folds of an array have gaps or not.
    rare = X.copy()
    rare[0, 0] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert cross_val_score(LandmarkRidge(**FAST), rare, y, cv=3).min() > 0
    # Numbers without gaps are taken as they are; gaps of later rows are filled with means.
    plain = LandmarkRidge(**FAST).fit(X, y)
    filled = gaps.copy()
    filled[::9, 1] = X.mean(axis=0)[1]
    assert np.array_equal(plain.predict(gaps), plain.predict(filled))
    with pytest.raises(ValueError, match="NaN"):
        LandmarkRidge(missing="error").fit(gaps, y)
    with pytest.raises(ValueError, match="NaN"):
        plain.set_params(strict=True).predict(gaps)
    gaps[3, 2] = np.inf
    with pytest.raises(ValueError, match='row 3, column "x2": inf'):
        LandmarkRidge().fit(gaps, y)
    words = np.array([["a", "b", "c"]] * 50, dtype=object)
    for numbers_alone in (lambda: LandmarkRidge().partial_fit(words, y[:50]), lambda: select(words, 3)):
        with pytest.raises(ValueError, match="could not convert string to float"):
            numbers_alone()
    words = np.column_stack([X.astype(object), np.where(y > 0, "up", "down")])
    assert fitted(LandmarkRidge(**FAST), words, y).get_feature_names_out().tolist()[4:] == ["x4=down", "x4=up"]
    for cell in ({"a": 1}, [1]):
        words[0, 0] = cell
        with pytest.raises((TypeError, ValueError)):
            LandmarkRidge().fit(words, y)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_rows_are_those_of_a_dense_copy(table, form):
    X, y = np.where(table[0] > 0.5, table[0], 0), table[1]
    for estimator in (LandmarkRidge(**FAST), LandmarkClassifier(**FAST), Nystroem(random_state=0)):
        target = y > 0 if isinstance(estimator, LandmarkClassifier) else y
        dense, own = clone(estimator).fit(X, target), clone(estimator).fit(form(X), target)
        work = "predict" if hasattr(own, "predict") else "transform"
        assert np.array_equal(getattr(own, work)(form(X)), getattr(dense, work)(X))


def test_a_notebook_shows_what_a_model_is(houses):
    frame, price = houses
    model = LandmarkRidge(**FAST)
    assert "<th>landmarks</th>" not in model._repr_html_()
    page = fitted(model, frame.rename(columns={"roof": "<roof>"}), price)._repr_html_()
    assert f"<td>{len(model.components_)} of 240 rows</td>" in page and "x0, order, empty, &lt;roof&gt;" in page
    assert f"{model.test_error_:.3g} ± " in page
    kinds = fitted(LandmarkClassifier(**FAST), frame, np.where(price > 4, "dear", "cheap"))
    assert "of rows in a wrong class" in kinds._repr_html_()


def test_pipelines_of_encoders(houses):
    frame, price = houses
    words = frame[["heating", "doors"]].fillna("?")
    pipeline = make_pipeline(make_column_transformer((OneHotEncoder(), ["heating", "doors"])), LandmarkRidge(**FAST))
    assert np.isfinite(pipeline.fit(words, price).predict(words)).all()


def test_features_of_a_table(houses):
    frame, price = houses
    model = fitted(Nystroem(n_components=20, random_state=0, scale="standard"), frame, None)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(model.transform(frame), again.transform(frame)) and len(model.taken_) == 10
    metric = fitted(Nystroem(n_components=20, metric="scales", random_state=0, scale="standard"), frame, price.where(price.index > 2))
    assert metric.component_indices_.min() > 2 and metric.transform(frame).shape == (240, 20)


def test_labels_are_kept_apart_or_refused(table):
    rows, _ = table
    frame = pd.DataFrame(rows, columns=[f"c{place}" for place in range(rows.shape[1])])
    labels = np.where(rows[:, 0] > 0.3, "1", np.where(rows[:, 0] < -0.3, "01", "2"))
    model = LandmarkClassifier(n_components=20, metric="one", random_state=0)
    assert model.fit(rows, labels).classes_.tolist() == ["01", "1", "2"]
    before = model.predict(rows)
    with pytest.raises(ValueError, match="labels '1' and '01'|labels '01' and '1'"):
        model.fit(frame, labels)
    assert (model.predict(rows) == before).all()
    words = np.where(labels == "1", "NA", labels)
    with pytest.raises(ValueError, match="label 'NA' is read as a gap"):
        model.fit(frame, words)


@pytest.mark.parametrize("labels", [[0, 1], [-2, 10], [False, True], ["no", "yes"]])
def test_a_loaded_model_has_the_labels_of_the_fit(table, tmp_path, labels):
    rows, _ = table
    own = np.asarray(labels)[(rows[:, 0] > 0).astype(int)]
    model = LandmarkClassifier(n_components=20, metric="one", random_state=0).fit(rows, own)
    model.save(tmp_path / "model.dpp")
    loaded = LandmarkClassifier.load(tmp_path / "model.dpp")
    assert loaded.classes_.dtype.kind == np.asarray(labels).dtype.kind
    assert (loaded.predict(rows) == model.predict(rows)).all()
    assert loaded.score(rows, own) > 0.9


def test_text_that_is_loaded_as_numbers_is_told(table, tmp_path):
    rows, _ = table
    model = LandmarkClassifier(n_components=20, metric="one", random_state=0).fit(rows, np.where(rows[:, 0] > 0, "1", "0"))
    with pytest.warns(UserWarning, match="loaded as numbers"):
        model.save(tmp_path / "model.dpp")


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_categories_that_look_like_numbers_are_words(table, form):
    rows, target = table
    codes = np.asarray(["00501", "02134", "10001"])[(rows[:, 0] > 0).astype(int) + (rows[:, 1] > 0)]
    if form == "pandas":
        frame = pd.DataFrame({"code": pd.Categorical(codes), "c": rows[:, 1]})
    else:
        frame = pl.DataFrame({"code": pl.Series(codes, dtype=pl.Categorical), "c": rows[:, 1]})
    model = LandmarkRidge(n_components=10, metric="one", random_state=0).fit(frame, target)
    assert set(model.get_feature_names_out()) == {"code=00501", "code=02134", "code=10001", "c"}
    assert np.isfinite(model.predict(frame)).all()


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_durations_are_days(form):
    days = np.random.default_rng(0).uniform(0, 9, size=300)
    seconds = np.round(days * 86_400).astype(int)
    if form == "pandas":
        frame = pd.DataFrame({"a": -days, "wait": pd.to_timedelta(seconds, unit="s")})
    else:
        frame = pl.DataFrame({"a": -days, "wait": pl.Series(seconds * 1_000_000).cast(pl.Duration("us"))})
    model = LandmarkRidge(n_components=20, metric="one", random_state=0).fit(frame, np.sin(days))
    assert model.get_feature_names_out().tolist() == ["a", "wait"]
    plain = pd.DataFrame({"a": -days, "wait": seconds / 86_400})
    other = LandmarkRidge(n_components=20, metric="one", random_state=0).fit(plain, np.sin(days))
    assert np.allclose(model.predict(frame), other.predict(plain), atol=1e-9)


def test_errors_name_the_column_and_what_python_has(table):
    rows, target = table
    dates = [f"{1 + place % 12}/{1 + place % 11}/2021" for place in range(len(rows))]
    with pytest.raises(ValueError, match="pandas.to_datetime"):
        LandmarkRidge().fit(pd.DataFrame({"when": dates, "c": rows[:, 1]}), target)
    with pytest.raises(TypeError, match='column "o": '):
        LandmarkRidge().fit(pd.DataFrame({"o": [[1]] * len(rows), "c": rows[:, 1]}), target)
