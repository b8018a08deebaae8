"""Rows of a table or of a kernel matrix, selected or sampled."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

from . import _native, _parameters


def select(
    X: ArrayLike,
    size: int,
    *,
    y: ArrayLike | None = None,
    selector: str = "kdpp",
    selector_params: dict[str, Any] | None = None,
    kernel: str = "rbf",
    gamma: float | None = None,
    sigma: float | str = "median",
    degree: int = 3,
    coef0: float = 1.0,
    scale: str | None = None,
    quality: ArrayLike | None = None,
    include: ArrayLike | None = None,
    exclude: ArrayLike | None = None,
    return_gains: bool = False,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.intp] | tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Select diverse rows, as landmarks of a kernel method.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features), or (n_samples, n_samples) for `kernel="precomputed"`
        The rows, or a positive semidefinite kernel matrix of which the lower triangle is read; finite.
    size : int
        The number of rows to select.
    y : array-like, shape (n_samples,), default=None
        The target, for the selector "refined-ridge" and for `sigma="cv"`.
    selector, selector_params, kernel, gamma, sigma, degree, coef0, scale, random_state, n_jobs
        As for :class:`Nystroem`. The defaults are those of `dpp-nystrom select`, but for `scale`, which is "standard" there.
    quality : array-like, shape (n_samples,), default=None
        A quality of each row, at least 0: the kernel matrix becomes `diag(quality) K diag(quality)`, so that rows are preferred by
        its square. A row of quality 0 is not selected. With the selector "greedy": the greedy MAP inference of a DPP.
    include, exclude : array-like of int, default=None
        Rows that are selected in any case and count towards `size`, and rows that are not selected. The law of the others is that
        given these.
    return_gains : bool, default=False
        Return the rows in the order of selection, and the gain of each: its residual given the rows before it, times the square of
        its quality. Rows that a selector selects all at once, such as a sample, are in the order of the largest residual.

    Returns
    -------
    indices : ndarray of int, shape (size,)
        Row indices, ascending.
    gains : ndarray of float, shape (size,)
        With `return_gains`.

    Raises
    ------
    ValueError
        For values that are not finite, more rows than there are or than are independent, a selector of points (`kmeans`), a
        quality that is negative, a row to include that is also to be excluded.

    Examples
    --------
    >>> import numpy as np
    >>> from dpp_nystrom import select
    >>> X = np.repeat(np.arange(4.0), 25).reshape(-1, 1)
    >>> [int(row) for row in X[select(X, 4, sigma=0.5, random_state=0)].ravel()]
    [0, 1, 2, 3]
    """
    rows, precomputed = _rows(X, kernel)
    target = None if y is None else _parameters.aligned(column_or_1d(y, dtype=np.float64))
    options = _options(
        rows,
        size,
        selector=selector,
        selector_params=selector_params,
        kernel=kernel,
        gamma=gamma,
        sigma=sigma,
        degree=degree,
        coef0=coef0,
        scale=scale,
        quality=quality,
        include=include,
        exclude=exclude,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    selected = _native.select(rows, target, precomputed, options)
    order = np.asarray([row for row, _ in selected], dtype=np.intp)
    if return_gains:
        return order, np.asarray([gain for _, gain in selected], dtype=np.float64)
    return np.sort(order)


def sample_cdpp(
    X: ArrayLike,
    size: int,
    *,
    kernel: str = "precomputed",
    gamma: float | None = None,
    sigma: float | str = "median",
    n_samples: int | None = None,
    exact: bool = False,
    steps: int | None = None,
    quality: ArrayLike | None = None,
    include: ArrayLike | None = None,
    exclude: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.intp]:
    """Sample sets of rows from a c-DPP, `Pr(C) ∝ det K_CC` over sets of `size` rows.

    By the open-slot chain, `size` kernel values a try, which need not read all rows and runs until two chains from different
    starts agree; or exactly, from the eigenvectors of the matrix: `O(n³)` once and `O(n size²)` a sample, up to 10,000 rows. Of more
    by rejection: `O(n size²)` once, and about `size⁶/20` operations a sample, for some 100 rows. Of rows under a linear or polynomial
    kernel of D features: `O(n D²)` once and milliseconds a sample, for any number of rows.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_samples), or (n_samples, n_features)
        The likelihood matrix `K` (DPPy's `L`), positive semidefinite, of which the lower triangle is read; or rows, with their `kernel`.
    size : int
        The number of rows of a sample.
    kernel : str, default="precomputed"
        "precomputed": `X` is a matrix. Otherwise the kernel of the rows, as for :class:`Nystroem`.
    gamma, sigma
        Its coefficient or bandwidth, as for :class:`Nystroem`.
    n_samples : int, default=None
        The number of independent samples; None: one, as an array of one dimension.
    exact : bool, default=False
        Sample exactly, in place of the chain.
    steps : int, default=None
        The number of tries of a chain; None: until it has converged.
    quality, include, exclude
        As for :func:`select`: samples are of `diag(quality) K diag(quality)`, given the rows to include.
    random_state, n_jobs
        As for :class:`Nystroem`. Samples of a chain have the seeds from `random_state` on.

    Returns
    -------
    samples : ndarray of int, shape (size,) or (n_samples, size)
        Row indices, ascending.

    Raises
    ------
    ValueError
        For values that are not finite, a matrix that is not square, more rows than the rank of the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from dpp_nystrom import sample_cdpp
    >>> matrix = np.array([[2.0, 1.0, 2.0], [1.0, 2.0, 1.0], [2.0, 1.0, 2.0]])
    >>> samples = sample_cdpp(matrix, 2, n_samples=4, exact=True, random_state=0)
    >>> bool((samples == 1).any(axis=1).all())  # rows 0 and 2 are equal and do not occur together
    True
    """
    rows, precomputed = _rows(X, kernel)
    params = None if steps is None else {"steps": steps}
    options = _options(
        rows,
        size,
        selector_params=params,
        kernel=kernel,
        gamma=gamma,
        sigma=sigma,
        quality=quality,
        include=include,
        exclude=exclude,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    count = 1 if n_samples is None else _parameters.count("n_samples", n_samples)
    if exact:
        samples = _native.sample_exact(rows, precomputed, count, options)
    else:
        seeds = [(options["seed"] + sample) % 2**64 for sample in range(count)]
        drawn = [_native.select(rows, None, precomputed, options | {"seed": seed}) for seed in seeds]
        samples = [sorted(row for row, _ in sample) for sample in drawn]
    found = np.asarray(samples, dtype=np.intp)
    return found[0] if n_samples is None else found


def inclusion_probabilities(
    X: ArrayLike,
    size: int,
    *,
    kernel: str = "precomputed",
    gamma: float | None = None,
    sigma: float | str = "median",
    quality: ArrayLike | None = None,
    include: ArrayLike | None = None,
    exclude: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Return the probability of each row to be in a c-DPP's sample of `size` rows.

    From the eigenvectors of the matrix: `O(n³)`, up to 10,000 rows; of rows under a linear or polynomial kernel of D features `O(n D²)`,
    any number of rows. Of more rows under other kernels estimates, from the features of 2 to 16 times as many landmarks as `size`.

    Parameters
    ----------
    X, size, kernel, gamma, sigma, quality, include, exclude, n_jobs
        As for :func:`sample_cdpp`.

    Returns
    -------
    probabilities : ndarray of float, shape (n_samples,)
        Their sum is `size`.

    Raises
    ------
    ValueError
        As :func:`sample_cdpp`.

    Examples
    --------
    >>> import numpy as np
    >>> from dpp_nystrom import inclusion_probabilities
    >>> matrix = np.array([[2.0, 1.0, 2.0], [1.0, 2.0, 1.0], [2.0, 1.0, 2.0]])
    >>> [round(float(p), 3) for p in inclusion_probabilities(matrix, 2)]  # rows 0 and 2 are equal
    [0.5, 1.0, 0.5]
    """
    rows, precomputed = _rows(X, kernel)
    options = _options(
        rows,
        size,
        selector_params=None,
        kernel=kernel,
        gamma=gamma,
        sigma=sigma,
        quality=quality,
        include=include,
        exclude=exclude,
        random_state=0,
        n_jobs=n_jobs,
    )
    return np.asarray(_native.inclusion(rows, precomputed, options), dtype=np.float64)


def _options(rows: NDArray[Any], size: int, **given: Any) -> dict[str, Any]:
    """Return the options of the library for a selection of `size` rows."""
    usual = {"selector": "kdpp", "landmarks": None, "degree": 3, "coef0": 1.0, "scale": None}
    given = usual | {"n_components": _parameters.count("size", size)} | given
    if given["kernel"] == "precomputed":
        return _parameters.options_of_kernel(SimpleNamespace(**given), len(rows))
    return _parameters.options(SimpleNamespace(**given), len(rows))


def _rows(X: ArrayLike, kernel: str) -> tuple[NDArray[Any], bool]:
    """Return rows, or a kernel matrix, as the library takes them, and which of these they are."""
    rows = _parameters.aligned(check_array(X, **_parameters.ACCEPTED, input_name="X"))
    if kernel == "precomputed":
        _parameters.check_square(rows)
    return rows, kernel == "precomputed"
