"""Tables of words, gaps and numbers, handed to the reader of the program column by column."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_consistent_length, column_or_1d, validate_data

from . import _native, _parameters

#: Numbers with NaN for gaps; fields with "" for gaps; such fields and their levels in order.
Cells = NDArray[np.float64] | list[str] | tuple[list[str], list[str]]

#: What a warning names of what became of the columns.
NAMED = 12

#: Words that the reader takes for gaps.
GAPS = frozenset(["?", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "\\n", ".", "-"])

#: What to do about an error whose message has this text, where the program has an option and Python has none.
INSTEAD = {
    "may begin with the day or with the month": "give it as datetimes: pandas.to_datetime(frame[column], dayfirst=True), or dayfirst=False",
    "is a number with a comma": "give the column as numbers",
    "different words": "merge rare words, or drop the column",
}


def is_frame(X: Any) -> bool:
    """Whether `X` has columns of several types, as frames of pandas and polars have."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def numbers(X: Any) -> Any:
    """Return rows as they are, of a sparse matrix as a dense copy."""
    return X.toarray() if hasattr(X, "toarray") and hasattr(X, "nnz") else X


def has_gaps(rows: NDArray[Any]) -> bool:
    """Whether a number is NaN; without a copy where all are finite."""
    with np.errstate(all="ignore"):
        return not np.isfinite(rows.sum()) and bool(np.isnan(rows).any())


def missing(estimator: Any) -> str:
    """Return what an estimator does with gaps."""
    return str(estimator.missing or ("error" if estimator.strict else "indicator"))


def learn(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: ArrayLike | None = None,
    classes: bool = False,
    groups: ArrayLike | None = None,
) -> _native.Reading | None:
    """Read a table to learn from it, say what became of its columns, and keep that; None for an array of numbers without gaps or groups."""
    estimator.__dict__.pop("taken_", None)
    estimator._notes = []
    columns = _columns(X, gaps=missing(estimator) != "error")
    is_plain = columns is None
    if is_plain and groups is not None:
        columns = _columns(validate_data(estimator, numbers(X), reset=True, **_parameters.ACCEPTED), gaps=False, always=True)
    if columns is None:
        return None
    validate_data(estimator, X, y, skip_check_array=True)
    check_consistent_length(X, y, sample_weight, groups)
    if (rows := _num_samples(X)) < 2:
        raise ValueError(f"Found array with {rows} sample(s) while a minimum of 2 is required.")
    own, named = _names(X, len(columns))
    targets = _targets(y, own) if y is not None else []
    if classes:
        sample_weight = _class_weights(y, estimator.class_weight, sample_weight)
    weights = []
    if sample_weight is not None:
        values = _check_sample_weight(sample_weight, np.empty((rows, 1)), dtype=np.float64, ensure_non_negative=True)
        weights = [(_free("sample_weight", [*own, *(name for name, _ in targets)]), values)]
    grouping = []
    if groups is not None:
        others = [*own, *(name for name, _ in targets + weights)]
        grouping = [(_free("groups", others), column_or_1d(np.asarray(groups), warn=True))]
    names = _native.column_names([*own, *(name for name, _ in targets + weights + grouping)])
    categorical = _categorical(estimator.categorical_features, own)
    read = [
        _named_cells(name, values, categorical is None, place in (categorical or ()))
        for place, (name, values) in enumerate(zip(own, columns, strict=True))
    ]
    read += [_named_cells(name, values) for name, values in targets + weights + grouping]
    how = {
        "targets": names[len(columns) : len(columns) + len(targets)],
        "classes": classes,
        "weight": names[len(columns) + len(targets)] if weights else None,
        "group": names[-1] if grouping else None,
        "words": [name for name, (is_word, _) in zip(names, read, strict=True) if is_word],
        # An array of numbers is taken as it is.
        "keep": names[: len(columns)] if is_plain else [names[place] for place in _chosen(estimator.keep, own, "keep")],
        "missing": missing(estimator),
        "strict": bool(estimator.strict),
    }
    # Blanks around names are cut and columns without a name called by their index where the table is read.
    table = list(zip([*own, *names[len(columns) :]], (cells for _, cells in read), strict=True))
    try:
        reading = _native.Reading({"columns": table, "named": named}, how)
    except ValueError as problem:
        for part, instead in INSTEAD.items():
            if part in str(problem):
                raise ValueError(f"{problem} (in Python: {instead})") from None
        raise
    _tell(estimator, reading)
    return reading


def word_of(y: Any) -> str | None:
    """Return the first target that is a word and not a number in words; None if there is none."""
    for value in np.asarray(y, dtype=object).ravel():
        if isinstance(value, str):
            try:
                float(value)
            except ValueError:
                return str(value)
    return None


def apply(estimator: Any, X: Any, recipe: _native.Recipe) -> NDArray[Any]:
    """Return the features of the rows of a table, by the recipe that was learned."""
    X = numbers(X)
    # A model that was loaded knows the columns that it needs, and finds them by their names.
    if not (is_frame(X) and getattr(estimator, "_finds_columns", False)):
        validate_data(estimator, X, reset=False, skip_check_array=True)
    columns = _columns(X, gaps=True, always=True)
    if columns is None:
        # Not two-dimensional, or complex: the error is scikit-learn's.
        columns = list(validate_data(estimator, X, reset=False, **_parameters.ACCEPTED).T)
    names, named = _names(X, len(columns))
    own = getattr(estimator, "feature_names_in_", None)
    if own is not None and not named:
        names = [str(name) for name in own]
    known = [name in recipe.words for name in _native.column_names(names)]
    cells = [
        _named_cells(name, values, is_word, is_word)[1]
        for name, values, is_word in zip(names, columns, known, strict=True)
    ]
    table = [(name, own[0] if isinstance(own, tuple) else own) for name, own in zip(names, cells, strict=True)]
    rows, unknown = recipe.read({"columns": table, "named": True}, bool(estimator.strict))
    if unknown:
        text = "1 word was" if unknown == 1 else f"{unknown} words were"
        warnings.warn(f"{text} in no training row and count as none of those known; strict=True refuses them", stacklevel=4)
    return rows


def classes(y: Any, reading: _native.Reading) -> NDArray[Any]:
    """Return the labels of the classes in order, as `y` has them; text that the reader takes for one number, or for a gap, is an error."""
    labels = np.asarray(y).ravel()
    for label in labels[reading.dropped] if reading.lost else ():
        if isinstance(label, str) and label.strip().lower() in GAPS:
            raise ValueError(f"the label {str(label)!r} is read as a gap where X is a table; rename it, or leave its rows out")
    kept = np.delete(np.arange(len(labels)), reading.dropped)
    _, first, place = np.unique(np.asarray(reading.target), return_index=True, return_inverse=True)
    found = labels[kept[first]]
    merged = np.flatnonzero(found[place] != labels[kept])
    if len(merged):
        one, other = found[place[merged[0]]], labels[kept[merged[0]]]
        raise ValueError(f"the labels {str(one)!r} and {str(other)!r} are one class where X is a table: both are read as the same number; rename them")
    if found.dtype.kind != "O" or all(isinstance(label, str) for label in found):
        return found
    return np.asarray(found.tolist())


def labels_of(texts: list[str]) -> NDArray[Any]:
    """Return the labels of a file: numbers and truth values where all are written so, else text."""
    if set(texts) == {"False", "True"}:
        return np.asarray([text == "True" for text in texts])
    for kind in (int, float):
        try:
            values = [kind(text) for text in texts]
        except ValueError:
            continue
        if all(str(value) == text for value, text in zip(values, texts, strict=True)):
            return np.asarray(values)
    return np.asarray(texts)


def are_labels(y: Any) -> bool:
    """Whether a target is of text or truth values."""
    return np.asarray(y).dtype.kind in "OUSb"


def _class_weights(y: Any, given: Any, sample_weight: ArrayLike | None) -> ArrayLike | None:
    """Check labels, and return the weights of their rows; a row without a label has the weight 1."""
    labels: NDArray[Any] = column_or_1d(np.asarray(y))
    known = np.asarray([_field(label) != "" for label in labels])
    check_classification_targets(np.asarray(labels[known].tolist()))
    if given is None:
        return sample_weight
    own = np.ones(len(labels))
    own[known] = compute_sample_weight(given, labels[known])
    return own if sample_weight is None else own * np.asarray(sample_weight, dtype=np.float64)


def _columns(X: Any, gaps: bool, always: bool = False) -> list[Any] | None:
    """Return the columns of what is no array of numbers, or has gaps and may have them, or of any table."""
    if is_frame(X):
        return [X.iloc[:, place] for place in range(X.shape[1])] if hasattr(X, "iloc") else list(X.get_columns())
    if hasattr(X, "toarray"):
        return None
    array = X if isinstance(X, np.ndarray) else np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)
    if array.ndim != 2 or not array.size or array.dtype.kind in "cm":
        return None
    if array.dtype.kind in "OUS":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            return list(array.T)
    if array.dtype.kind == "f":
        return list(array.T) if always or (gaps and has_gaps(array)) else None
    return list(array.T) if always or array.dtype.kind == "M" else None


def _names(X: Any, count: int) -> tuple[list[str], bool]:
    """Return the names of columns, and whether they are names of their own: text."""
    own = list(X.columns) if is_frame(X) else []
    if own and all(isinstance(name, str) for name in own):
        return own, True
    return [f"x{place}" for place in range(count)], False


def _free(name: str, taken: Iterable[str]) -> str:
    """Return a name that is not taken."""
    others = set(taken)
    while name in others:
        name = "_" + name
    return name


def _targets(y: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
    """Return the columns of the target with names that no other column has."""
    if is_frame(y) and y.shape[1] == 1:
        y = y.iloc[:, 0] if hasattr(y, "iloc") else y.get_columns()[0]
    if is_frame(y):
        columns, (own, _) = _columns(y, gaps=True), _names(y, y.shape[1])
        pairs = zip(own, columns or [], strict=True)
        return [(_free(name, names), values) for name, values in pairs]
    if hasattr(y, "dtype") and not isinstance(y, np.ndarray):
        name = getattr(y, "name", None)
        return [(_free(name if isinstance(name, str) and name else "y", names), y)]
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] > 1:
        return [(_free(f"y{place}", names), column) for place, column in enumerate(array.T)]
    return [(_free("y", names), column_or_1d(array, warn=True))]


def _chosen(wanted: Any, names: Sequence[str], parameter: str) -> list[int]:
    """Return the columns that are given by name, by index or by a mask."""
    given = [wanted] if isinstance(wanted, str) else list(wanted)
    if len(given) == len(names) and all(isinstance(one, (bool, np.bool_)) for one in given):
        return [place for place, one in enumerate(given) if one]
    found = []
    for one in given:
        if isinstance(one, str) and one in names:
            found.append(names.index(one))
        elif isinstance(one, (int, np.integer)) and not isinstance(one, bool) and -len(names) <= one < len(names):
            found.append(int(one) % len(names))
        else:
            raise ValueError(f"invalid {parameter}: {one!r} is no column of X; give names, indices or a mask")
    return found


def _categorical(wanted: Any, names: Sequence[str]) -> list[int] | None:
    """Return the columns of words that are named; None: they have a type of words."""
    if isinstance(wanted, str) and wanted == "from_dtype":
        return None
    return [] if wanted is None else _chosen(wanted, names, "categorical_features")


def _cells(values: Any, from_dtype: bool = False, are_words: bool = False) -> tuple[bool, Cells]:
    """Return the cells of a column, and whether they are words even where they are numbers."""
    module = type(values).__module__
    if module.startswith("polars"):
        return _of_polars(values, from_dtype, are_words)
    kind, dtype = values.dtype.kind, values.dtype
    if hasattr(values, "cat") and (from_dtype or are_words):
        categories = values.cat.remove_unused_categories().cat.categories if values.cat.ordered else []
        fields = [_field(value) for value in values.to_numpy(dtype=object)]
        if len(categories):
            return False, (fields, [_field(value).strip() for value in categories])
        if dtype.categories.dtype.kind in "biuf":
            return True, [_word(value) for value in values.to_numpy(dtype=object)]
        return are_words or _is_a_number(dtype.categories), fields
    if kind in "biuf" and not are_words:
        if isinstance(values, np.ndarray):
            return False, np.ascontiguousarray(values, dtype=np.float64)
        return False, np.ascontiguousarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind == "m":
        days = np.asarray(values, dtype="timedelta64[ns]") / np.timedelta64(1, "D")
        return are_words, [_field(value) for value in days] if are_words else np.ascontiguousarray(days)
    if kind == "M":
        gaps = np.isnat(values) if isinstance(values, np.ndarray) else values.isna()
        text = values.astype(str)
        return are_words, ["" if gap else str(field) for field, gap in zip(text, gaps, strict=True)]
    objects = values.astype(object) if isinstance(values, np.ndarray) else values.to_numpy(dtype=object)
    return are_words, [_word(value) if kind in "biuf" else _field(value) for value in objects]


def _of_polars(values: Any, from_dtype: bool, are_words: bool) -> tuple[bool, Cells]:
    """Return the cells of a series of polars."""
    import polars

    dtype = values.dtype
    if (dtype.is_numeric() or dtype == polars.Boolean) and not are_words:
        return False, np.ascontiguousarray(values.cast(polars.Float64).to_numpy(), dtype=np.float64)
    if dtype == polars.Duration:
        days = (values.dt.total_nanoseconds() / 86_400e9).cast(polars.Float64)
        return are_words, [_field(value) for value in days.to_list()] if are_words else np.ascontiguousarray(days.to_numpy())
    if dtype.is_temporal() or dtype in (polars.Categorical, polars.Enum):
        fields = [_field(value) for value in values.cast(polars.String).to_list()]
        if dtype == polars.Enum and (from_dtype or are_words):
            present = set(fields)
            return False, (fields, [level for level in dtype.categories if level in present])
        return are_words or (from_dtype and dtype == polars.Categorical and _is_a_number(fields)), fields
    return are_words, [_word(value) if are_words else _field(value) for value in values.to_list()]


def _named_cells(name: str, values: Any, from_dtype: bool = False, are_words: bool = False) -> tuple[bool, Cells]:
    """Return the cells of a column as :func:`_cells`; an error names the column."""
    try:
        return _cells(values, from_dtype, are_words)
    except TypeError as problem:
        raise TypeError(f'column "{name}": {problem}') from None


def _is_a_number(categories: Iterable[str]) -> bool:
    """Whether a category may be read as a number."""
    return any(category.strip()[:1] in (*"+-.", *"0123456789") for category in categories if category)


def _field(value: Any) -> str:
    """Return a value as a CSV file has it; a gap is empty."""
    if isinstance(value, str):
        return value
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, (complex, np.complexfloating)):
        raise ValueError("Complex data not supported")
    if isinstance(value, (dict, list, tuple, set, np.ndarray)):
        raise TypeError(f"a cell of a table must be a string or a number, found {type(value).__name__}")
    return "" if value != value else str(value)


def _word(value: Any) -> str:
    """Return a number as a word: a whole one is the same word as an integer and as a float, as which a column with gaps has it."""
    return str(int(value)) if isinstance(value, (float, np.floating)) and value == value // 1 else _field(value)


def _tell(estimator: Any, reading: _native.Reading) -> None:
    """Keep what became of the columns and the rows without a target, and say so."""
    keys = ("column", "what", "left_out")
    estimator.taken_ = [dict(zip(keys, taken, strict=True)) for taken in reading.recipe.taken]
    told = [f'"{taken["column"]}": {taken["what"]}' if taken["column"] else taken["what"] for taken in estimator.taken_]
    parts = []
    for name, left_out in (("columns left out", True), ("columns not read as they stand", False)):
        own = [text for text, taken in zip(told, estimator.taken_, strict=True) if taken["left_out"] == left_out]
        more = f"; and {len(own) - NAMED} more" if len(own) > NAMED else ""
        parts += [f"{name}: {'; '.join(own[:NAMED])}{more}"] if own else []
    if reading.lost:
        parts.append(f"{reading.lost} rows without a target left out")
    estimator._notes = parts
    if parts:
        undo = "taken_ lists all of this; keep=[...] keeps a column, categorical_features=[...] reads columns as words, strict=True makes this an error"
        warnings.warn(f"{'. '.join(parts)} ({undo})", stacklevel=5)


def rows_for(estimator: Any, X: Any, recipe: _native.Recipe | None) -> NDArray[Any]:
    """Return rows for a fitted estimator as the library takes them: by the recipe of a table, or numbers with gaps filled."""
    if recipe is not None:
        return apply(estimator, X, recipe)
    fills = getattr(estimator, "_means", None) if missing(estimator) != "error" else None
    finite: dict[str, Any] = {} if fills is None else {"ensure_all_finite": "allow-nan"}
    rows = _parameters.aligned(validate_data(estimator, numbers(X), **_parameters.ACCEPTED, **finite, reset=False))
    if fills is not None and has_gaps(rows):
        rows = np.where(np.isnan(rows), fills.astype(rows.dtype), rows)
    return rows


def tagged(estimator: Any, tags: Any) -> Any:
    """Return scikit-learn's tags of what tables hold."""
    own = tags.input_tags
    own.sparse = own.string = own.categorical = True
    own.allow_nan = missing(estimator) != "error"
    return tags
