"""Parameters that the estimators and functions share, checked and handed to the library."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import wraps
from numbers import Integral
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import numpy as np
from joblib import cpu_count
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

#: What scikit-learn's checks let through: numbers in rows, in double or single precision; others are converted to the first.
ACCEPTED: dict[str, Any] = {"dtype": [np.float64, np.float32], "order": "C"}

#: What `selector_params` may hold.
SELECTOR_PARAMS = ("sweeps", "budget", "steps")


Method = TypeVar("Method", bound=Callable[..., Any])


def whole(method: Method) -> Method:
    """Leave an estimator as it was where its method raises, also for a callback or a signal."""

    @wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(Method, guarded)


def aligned(values: NDArray[Any]) -> NDArray[Any]:
    """Return values in the order of rows that the processor can read in place: themselves, or a copy."""
    return np.require(values, requirements=["C", "A"])


def means(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the means of columns, which fill gaps of later rows; infinite where numbers are too large."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(rows.mean(axis=0))


def seed(random_state: int | np.random.RandomState | None) -> int:
    """Return the seed: an integer as it is, otherwise one drawn from the generator."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"invalid random_state {random_state}: expected at least 0 and less than 2**64")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def threads(n_jobs: int | None) -> int | None:
    """Return the number of threads; None for all cores. Negative numbers count from all cores, as joblib's do.

    Without one it is that of `OMP_NUM_THREADS`, by which joblib gives each of its processes a share of the cores.
    """
    share = os.environ.get("OMP_NUM_THREADS", "") if n_jobs is None else ""
    if share.isdigit() and 0 < int(share) < cpu_count():
        return int(share)
    if n_jobs is None or n_jobs == -1:
        return None
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(
            f"invalid n_jobs {n_jobs!r}: expected a number of threads, None or -1 for all cores, or -2 for all but one and so on"
        )
    if n_jobs < 0:
        return int(max(cpu_count() + 1 + n_jobs, 1))
    # Numbers beyond those of any machine; the number of threads itself is limited where they are started.
    return int(min(n_jobs, 2**31))


def positive(name: str, value: Any) -> float:
    """Return a positive finite number."""
    if not isinstance(value, (int, float, np.integer, np.floating)) or not (value > 0 and math.isfinite(value)):
        raise ValueError(f"invalid {name} {value!r}: expected a positive number")
    return float(value)


def bandwidth(kernel: str | None, gamma: float | None, sigma: float | str) -> float | str:
    """Return the bandwidth σ that stands for `gamma`, or `sigma` without one."""
    if gamma is None:
        return sigma if isinstance(sigma, str) else positive("sigma", sigma)
    if sigma != "median":
        raise ValueError("gamma and sigma both set the bandwidth: give one of them")
    gamma = positive("gamma", gamma)
    if kernel in (None, "rbf", "gaussian"):
        return math.sqrt(0.5 / gamma)
    if kernel in ("laplacian", "laplace"):
        return 1.0 / gamma
    if kernel in ("polynomial", "linear", "precomputed"):
        raise ValueError(f"the kernel {kernel} has no bandwidth: leave out gamma")
    raise ValueError(f"gamma is the coefficient of the kernels rbf and laplacian; for the kernel {kernel} use sigma")


def offset(value: Any) -> float:
    """Return the offset of the polynomial kernel, which the library checks."""
    if not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"invalid coef0 {value!r}: expected a number, at least 0")
    return float(value)


def coefficient(kernel: str, sigma: float | None) -> float | None:
    """Return the coefficient gamma of a kernel with this bandwidth; None for kernels without one."""
    if sigma is None or kernel not in ("rbf", "gaussian", "laplacian", "laplace"):
        return None
    return 0.5 / sigma**2 if kernel in ("rbf", "gaussian") else 1.0 / sigma


def named(name: str, value: Any) -> None:
    """Refuse what is no name."""
    if value is None or isinstance(value, str):
        return
    advice = "; of a kernel of your own, compute the matrix and give Nystroem(kernel='precomputed') its values" if name == "kernel" else ""
    raise ValueError(f"invalid {name} {value!r}: expected a name, as text{advice}")


def count(name: str, value: Any) -> int:
    """Return a number of landmarks."""
    if not isinstance(value, Integral) or value < 1:
        advice = f"; the kernel is named: kernel={value!r}" if name == "n_components" and isinstance(value, str) else ""
        raise ValueError(f"invalid {name} {value!r}: expected a whole number, at least 1{advice}")
    return int(value)


def row_indices(landmarks: ArrayLike, rows: int, name: str = "landmarks") -> list[int]:
    """Return distinct row indices."""
    indices: NDArray[Any] = np.asarray(landmarks)
    if indices.ndim != 1 or not np.issubdtype(indices.dtype, np.integer) or not len(indices):
        raise ValueError(f"invalid {name}: expected a sequence of row indices")
    if indices.min() < 0 or indices.max() >= rows:
        raise ValueError(f"invalid {name}: expected row indices from 0 to {rows - 1}, the last row")
    if len(np.unique(indices)) < len(indices):
        raise ValueError(f"invalid {name}: a row index occurs twice")
    return [int(index) for index in indices]


def conditions(given: Any, rows: int) -> dict[str, Any]:
    """Return the quality of rows, and those to include and to exclude, as the library takes them."""
    quality = getattr(given, "quality", None)
    if quality is not None:
        quality = np.asarray(quality, dtype=np.float64)
        if quality.shape != (rows,):
            raise ValueError(f"invalid quality: expected the shape ({rows},), found {quality.shape}")
        if not (np.isfinite(quality).all() and (quality >= 0).all()):
            raise ValueError("invalid quality: expected finite numbers of at least 0")
        quality = quality.tolist()
    lists = {}
    for name in ("include", "exclude"):
        listed = getattr(given, name, None)
        lists[name] = [] if listed is None or len(listed) == 0 else row_indices(listed, rows, name)
    both = sorted(set(lists["include"]) & set(lists["exclude"]))
    if both:
        raise ValueError(f"row {both[0]} is to be included and excluded; omit it from one of the lists")
    size = given.n_components
    if size is not None and len(lists["include"]) > size:
        raise ValueError(f"{len(lists['include'])} rows to include, but only {size} to select")
    return {"quality": quality} | lists


def names(
    features: ArrayLike | None, target: Any, labels: list[str] | None = None, targets: list[str] | None = None
) -> dict[str, Any]:
    """Return the names of features and target or targets, and the labels of classes, as the library takes them."""
    columns = None if features is None else [str(name) for name in np.asarray(features)]
    return {"features": columns, "target": target if isinstance(target, str) else "y", "targets": targets, "labels": labels}


def weights(sample_weight: ArrayLike | None, rows: NDArray[Any]) -> NDArray[Any] | None:
    """Return the weights of rows: finite, at least 0."""
    if sample_weight is None:
        return None
    return aligned(_check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True))


def check_square(matrix: NDArray[Any]) -> None:
    """Refuse a kernel matrix that is not square."""
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f'kernel="precomputed" takes a square matrix, found the shape {matrix.shape}; '
            'for rows of features name their kernel, such as kernel="rbf"'
        )


def options_of_kernel(given: Any, rows: int) -> dict[str, Any]:
    """Return the options of the library for a selection among the rows of a kernel matrix."""
    if given.gamma is not None or given.sigma != "median":
        raise ValueError('kernel="precomputed" has no bandwidth: leave out gamma and sigma')
    # A kernel without a bandwidth, which is not read.
    return options(SimpleNamespace(**{**vars(given), "kernel": "linear"}), rows)


def options(given: Any, rows: int) -> dict[str, Any]:
    """Return the options of the library from the parameters of an estimator, for this many rows."""
    for name in ("kernel", "metric", "selector", "scale"):
        named(name, getattr(given, name, None))
    extra = dict(given.selector_params or {})
    unknown = sorted(set(extra) - set(SELECTOR_PARAMS))
    if unknown:
        raise ValueError(f"invalid selector_params {unknown}: expected {', '.join(SELECTOR_PARAMS)}")
    if extra.get("budget") is not None and not isinstance(extra["budget"], (int, float)):
        raise ValueError(f"invalid selector_params['budget'] {extra['budget']!r}: expected a number of seconds")
    for name in ("sweeps", "steps"):
        if extra.get(name) is not None:
            extra[name] = count(f"selector_params[{name!r}]", extra[name])
    landmarks = None if given.landmarks is None else row_indices(given.landmarks, rows)
    return {
        "kernel": given.kernel,
        "sigma": bandwidth(given.kernel, given.gamma, given.sigma),
        "degree": count("degree", given.degree),
        "coef0": offset(given.coef0),
        "metric": getattr(given, "metric", "one"),
        "count": None if given.n_components is None else count("n_components", given.n_components),
        "selector": given.selector,
        "landmarks": landmarks,
        "ridge": "cv",
        "scale": given.scale,
        "seed": seed(given.random_state),
        "threads": threads(given.n_jobs),
        "tolerance": None,
        "flash": None,
        "progress": None,
    } | conditions(given, rows) | {name: extra.get(name) for name in SELECTOR_PARAMS}
