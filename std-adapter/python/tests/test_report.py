"""The page of a fit: that of the program for the CSV file of the same frame, but for what each says of itself."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest

from dpp_nystrom import LandmarkClassifier, LandmarkRidge

rng = np.random.default_rng(7)
COLOURS = np.array(["red", "green", "blue"])


def frame(rows=400):
    """Numbers, and a column of words."""
    columns = {f"f{place}": rng.normal(size=rows).round(6) for place in range(3)}
    return pd.DataFrame(columns | {"colour": COLOURS[rng.integers(0, 3, size=rows)]})


def told(page):
    """Return a page without what differs by nature: durations, paths, how to fit it again, and notes."""
    page = re.sub(r"<p>This (command|estimator) fits it again:</p><pre.*?</pre>", "", page, flags=re.S)
    page = re.sub(r'<section aria-labelledby="notes">.*?</section>', "", page, flags=re.S)
    return re.sub(r'<tr><th scope="row">(data|model|seconds to [a-z ]+)</th><td>.*?</td></tr>', "", page)


def both(program, tmp_path, X, y, arguments, model):
    """Return the pages of the program and of a model of the same rows."""
    X.assign(**{y.name: y}).to_csv(tmp_path / "rows.csv", index=False)
    program("fit", tmp_path / "rows.csv", "--model", tmp_path / "m.dpp", "--report", tmp_path / "p.html", *arguments, strict=False)
    model.fit(X, y).report(tmp_path / "own.html", name="rows.csv")
    return [(tmp_path / name).read_text() for name in ("p.html", "own.html")]


@pytest.mark.parametrize("alpha, ridge", [(None, "cv"), ("loo", "loo")])
def test_numbers_have_the_page_of_the_program(program, tmp_path, alpha, ridge):
    X = frame()
    y = (np.sin(2 * X.f0) * X.f1 + (X.colour == "red") + 0.1 * rng.normal(size=len(X))).round(6).rename("y")
    arguments = ["--ridge", ridge, "--seed", 5]
    expected, found = both(program, tmp_path, X, y, arguments, LandmarkRidge(alpha=alpha, random_state=5))
    assert told(found) == told(expected)
    assert len(told(found)) > 0.9 * len(found) and found.count("<svg") == expected.count("<svg") > 6
    own = "LandmarkRidge(alpha='loo', random_state=5)" if alpha else "LandmarkRidge(random_state=5)"
    assert f'This estimator fits it again:</p><pre tabindex="0"><code>{own}.fit(X, y)</code>' in found


def test_classes_have_the_page_of_the_program(program, tmp_path):
    X = frame()
    y = pd.Series(np.where(np.hypot(X.f0, X.f1) < 1.0, "in", "out"), name="where")
    expected, found = both(program, tmp_path, X, y, [], LandmarkClassifier(random_state=0))
    assert told(found) == told(expected)
    assert "Confusion matrix" in found and "Fit of where from rows.csv" in found


def test_a_page_has_what_became_of_columns_and_what_was_told(tmp_path):
    X = frame().assign(id=np.arange(400), same=1.0)
    with pytest.warns(UserWarning, match="columns left out"):
        model = LandmarkRidge(300, selector="greedy", random_state=0).fit(X, X.f0 + X.f1)
    model.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "<title>Fit of y</title>" in page and "(keep has columns that stay)" in page
    notes = page[page.index('<section aria-labelledby="notes">') :]
    assert "<li>columns left out: &quot;id&quot;: " in notes and "--keep" not in page
    with pytest.warns(UserWarning, match="of the 300 asked for"):
        model.set_params(sigma=50.0, metric="one").fit(X[["f0", "f1"]], X.f0).report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "columns left out" not in page and "landmarks of the 300 asked for" in page


def test_a_model_without_a_fit_has_no_page(tmp_path):
    X, path = frame().drop(columns="colour"), tmp_path / "page.html"
    model = LandmarkRidge(20, random_state=0).fit(X, X.f0)
    model.save(tmp_path / "m.dpp")
    others = [
        LandmarkRidge.load(tmp_path / "m.dpp"),
        pickle.loads(pickle.dumps(model)),
        LandmarkRidge(20, random_state=0).partial_fit(X, X.f0),
    ]
    for other in others:
        with pytest.raises(ValueError, match="call fit before report"):
            other.report(path)
    assert not path.exists()
    model.report(path)
    before = path.read_text()
    with pytest.raises(OSError, match="nowhere"):
        model.report(tmp_path / "nowhere" / "page.html")
    with pytest.raises(ValueError, match="call fit"):
        others[0].report(path)
    assert path.read_text() == before


def test_a_notebook_shows_the_head_of_the_page():
    X = frame()
    model = LandmarkRidge(30, random_state=0).fit(X, X.f0.rename("height") + X.f1)
    head = model._repr_html_()
    first = max(zip(model.feature_importances_, X.columns))
    for text in ("<th>target</th>", "30 of 400 rows", "rbf", f"{model.test_error_:.3g} ± ", f"<th>importances</th><td>{first[1]} {100 * first[0]:.3g} %"):
        assert text in head, text
