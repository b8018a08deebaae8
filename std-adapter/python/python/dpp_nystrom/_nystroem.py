"""The Nyström feature map."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from . import _native, _parameters, _progress, _tables


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Map rows to features whose inner products approximate a kernel, from landmarks among the rows.

    With `C` the landmarks and `L Lᵀ = K_CC`, the features of a row `x` are `L⁻¹ k_C(x)`. Their inner products are those of
    scikit-learn's `Nystroem` on the same landmarks, whose features `K_CC^(-1/2) k_C(x)` are a rotation of these.
    Given `landmarks` that depend on others are dropped: there may be fewer features than landmarks.

    A fit costs what the selector costs, `transform` `c` kernel values and `c²/2` multiply-adds a row, on all cores.
    C-contiguous arrays of float64 and float32 are read where they are; other input is converted to float64, with a copy.
    Selectors read them there too, as `kdpp` and `uniform` do, or copy them to float64: `auto` up to 131,072 rows, a sample of
    more; the others all rows. `scale="standard"` makes such a copy in any case.

    Parameters
    ----------
    n_components : int, default=None
        The number of landmarks: of more than there are rows as many as rows, with a warning. If fewer rows are independent, `fit` raises
        `ValueError`. None: 100, and at most a quarter of the rows and as many as are
        independent under the kernel.
    metric : str, default="one"
        "one": one bandwidth for all features. "scales", "map", "map:R" and "auto", learned from `y`: as for :class:`LandmarkRidge`. Features are
        then those of scaled or mapped rows.
    kernel : {"rbf", "laplacian", "matern32", "matern52", "polynomial", "linear", "rational-quadratic", "precomputed"}, default="rbf"
        The kernel: `exp(-gamma ‖x - y‖²)`, `exp(-gamma ‖x - y‖₁)`, Matérn of smoothness 3/2 and 5/2, `(xᵀy + coef0)^degree`, `xᵀy`,
        `1 / (1 + ‖x - y‖² / (2 sigma²))`. "gaussian" and "laplace", the program's names, are "rbf" and "laplacian".
        "precomputed": `fit` takes the kernel matrix of the rows, symmetric and positive semidefinite, and `transform` the kernel of each row
        with all of those, of which the columns of the landmarks are read. It has no bandwidth, metric or scale.
    gamma : float, default=None
        The coefficient of `rbf` and `laplacian`, as in scikit-learn. None: as `sigma` says, where scikit-learn has
        `1 / n_features`.
    sigma : float or str, default="median"
        The bandwidth, `gamma = 1 / (2 sigma²)` for `rbf` and `1 / sigma` for `laplacian`: a number, "median" (of the distances
        between up to 1,000 rows), a multiple such as "median*4", or "cv", chosen by cross-validation of a ridge regression of `y`.
    degree : int, default=3
        The degree of the polynomial kernel.
    coef0 : float, default=1.0
        The offset of the polynomial kernel, at least 0.
    selector : str, default="auto"
        How landmarks are selected: a method of the command line, such as "kdpp", "uniform", "kmeans++", "rpcholesky", "greedy" or "refined".
    selector_params : dict, default=None
        `sweeps`, of exchanges (`refined`, `auto`); `budget`, in seconds (`auto`); `steps`, of the chain (`kdpp`).
    landmarks : array-like of int, default=None
        Row indices to use in place of `n_components` and `selector`.
    scale : {"standard", "robust", "clipped"} or None, default=None
        None: not at all, as in scikit-learn. "standard": to mean 0 and standard deviation 1, constant features to 0, as
        the command line does. "robust": to median 0 and the interquartile range of a normal distribution. "clipped": the same, with
        heavy tails clipped smoothly.
    categorical_features, missing, keep, strict
        How a table is read, as for :class:`LandmarkRidge`. Not for a precomputed kernel.
    random_state : int, RandomState instance or None, default=None
        The seed. The same integer selects the same rows as `--seed` on the command line.
    n_jobs : int, default=None
        The number of threads. None: all cores, or as many as `OMP_NUM_THREADS` allows; -1: all cores; -2: all but one. Results do not
        depend on it.
    verbose : bool, default=False
        Show the phases of a fit on stderr: by a bar of tqdm where it is installed, else by lines.
    callbacks : sequence of callables, default=None
        Each is called with a phase, as text, the steps that are done and all steps, 0 if their number is unknown: when the phase begins, and as it
        proceeds at most 20 times a second, in the thread that called `fit`. An exception ends the fit, and leaves the estimator as it was.

    Attributes
    ----------
    component_indices_ : ndarray of int, shape (n_landmarks,)
        The landmarks, as row indices; not there for `kmeans`, whose landmarks are points.
    components_ : ndarray, shape (n_landmarks, n_features)
        The landmarks, in the units of the rows; not there for a precomputed kernel.
    metric_ : str
        The metric: "one", "scales" or "map:R".
    taken_ : list of dict
        The columns of a table that were not read as they stand, as of :class:`LandmarkRidge`.
    sigma_, gamma_ : float
        The bandwidth, and the coefficient that it is; None for kernels without them.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        Their names, if the rows had names.

    Examples
    --------
    >>> import numpy as np
    >>> from dpp_nystrom import Nystroem
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> features = Nystroem(n_components=50, selector="kdpp", gamma=0.1, random_state=0).fit_transform(X)
    >>> features.shape
    (500, 50)
    >>> kernel = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    >>> bool(abs(features @ features.T - kernel).max() < 0.1)
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        metric: str = "one",
        kernel: str = "rbf",
        gamma: float | None = None,
        sigma: float | str = "median",
        degree: int = 3,
        coef0: float = 1.0,
        selector: str = "auto",
        selector_params: dict[str, Any] | None = None,
        landmarks: ArrayLike | None = None,
        scale: str | None = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        missing: str | None = None,
        keep: ArrayLike = (),
        strict: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        callbacks: Iterable[_progress.Callback] | None = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.kernel = kernel
        self.gamma = gamma
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.selector = selector
        self.selector_params = selector_params
        self.landmarks = landmarks
        self.scale = scale
        self.categorical_features = categorical_features
        self.missing = missing
        self.keep = keep
        self.strict = strict
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks

    @_parameters.whole
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Nystroem:
        """Select landmarks among the rows and factor their kernel matrix.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features), or (n_samples, n_samples) for `kernel="precomputed"`
            The rows, at least 2: numbers, or a table; or their kernel matrix.
        y : array-like, shape (n_samples,), default=None
            The target, for the selector "refined-ridge", for `sigma="cv"` and for a `metric` that is learned; not read otherwise. Finite numbers,
            or text or truth values, which are classes.

        Returns
        -------
        self : Nystroem

        Raises
        ------
        ValueError
            For rows that are not finite, more landmarks than independent rows, invalid parameters.
        KeyboardInterrupt
            After Ctrl-C: at the next block of work.
        """
        for name in ("component_indices_", "components_", "_recipe", "_means"):
            self.__dict__.pop(name, None)
        if self.kernel == "precomputed":
            return self._fit_kernel(self._numbers(X))
        needs = self.sigma == "cv" or self.selector == "refined-ridge" or self.metric != "one"
        if needs and y is None and self.metric != "one":
            raise ValueError(f"metric={self.metric!r} is learned from the target: give y, or metric='one'")
        y = y if needs else None
        reading = _tables.learn(self, X, y, classes=y is not None and _tables.are_labels(y))
        if reading is None:
            rows = self._numbers(X)
            target, labels = (None, None) if y is None else _target(y)
            self._means = _parameters.means(rows)
        else:
            rows, target, labels = reading.rows, reading.target, reading.labels
            self._recipe = reading.recipe
            if reading.dropped and self.landmarks is not None:
                raise ValueError("landmarks are rows of X, of which some have no target: leave these out")
        with _progress.of(self) as progress:
            options = self._options(len(rows)) | {"progress": progress}
            fitted = _native.Map(rows, target, _parameters.names(None, None, labels), options)
        self._map: _native.Map | _native.GramMap = fitted
        self._n_features_out = fitted.rank
        self.metric_ = fitted.metric
        self.sigma_ = fitted.sigma
        self.gamma_ = _parameters.coefficient(self.kernel, fitted.sigma)
        if fitted.rows is None:
            self.components_ = fitted.landmarks
        else:
            indices = np.asarray(fitted.rows, dtype=np.intp)
            self.components_ = rows[indices]
            kept = indices if reading is None else np.delete(np.arange(len(rows) + len(reading.dropped)), reading.dropped)[indices]
            self.component_indices_ = kept
        return self

    def _numbers(self, X: ArrayLike) -> NDArray[Any]:
        """Return rows of numbers as the library takes them."""
        return _parameters.aligned(validate_data(self, _tables.numbers(X), **_parameters.ACCEPTED, ensure_min_samples=2))

    def _options(self, rows: int) -> dict[str, Any]:
        """Return the options of the library, with no more landmarks than rows."""
        options = (_parameters.options_of_kernel if self.kernel == "precomputed" else _parameters.options)(self, rows)
        if self.landmarks is None and options["count"] is not None and options["count"] > rows:
            warnings.warn(f"n_components={options['count']} is more than there are rows: {rows} landmarks are taken", stacklevel=4)
            options["count"] = rows
        return options

    def _fit_kernel(self, matrix: NDArray[Any]) -> Nystroem:
        """Select landmarks among the rows of a kernel matrix."""
        _parameters.check_square(matrix)
        if self.scale is not None or self.metric != "one":
            raise ValueError('kernel="precomputed" has no features to scale: leave out scale and metric')
        options = self._options(len(matrix))
        indices = options["landmarks"]
        if indices is None:
            with _progress.of(self) as progress:
                selected = _native.select(matrix, None, True, options | {"progress": progress})
            indices = sorted(row for row, _ in selected)
        self.component_indices_ = np.asarray(indices, dtype=np.intp)
        own = matrix[np.ix_(self.component_indices_, self.component_indices_)].astype(np.float64)
        self._map = _native.GramMap(own.ravel().tolist())
        self._n_features_out = self._map.rank
        self.metric_ = "one"
        self.sigma_ = self.gamma_ = None
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Return the features of rows.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            The rows, in the units of those that the map was fitted to; for `kernel="precomputed"` the kernel of each row with
            those, shape (n_samples, n_rows).

        Returns
        -------
        features : ndarray, shape (n_samples, n_features_out)
            In float32 for rows in float32, else in float64; computed in float64.
        """
        check_is_fitted(self)
        rows = _tables.rows_for(self, X, getattr(self, "_recipe", None))
        if self.kernel == "precomputed":
            rows = np.ascontiguousarray(rows[:, self.component_indices_])
        return self._map.transform(rows, _parameters.threads(self.n_jobs))

    def __sklearn_tags__(self) -> Any:
        tags = _tables.tagged(self, super().__sklearn_tags__())
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _target(y: ArrayLike) -> tuple[NDArray[Any], list[str] | None]:
    """Return a target of numbers; of text and truth values, the index of each class and the labels."""
    values = column_or_1d(y)
    if not _tables.are_labels(values):
        return _parameters.aligned(values.astype(np.float64, copy=False)), None
    labels, indices = np.unique(values.astype(str), return_inverse=True)
    return indices.astype(np.float64), [str(label) for label in labels]
