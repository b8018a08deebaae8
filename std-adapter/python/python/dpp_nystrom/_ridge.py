"""Kernel ridge regression on landmarks."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native, _parameters


class LandmarkRidge(RegressorMixin, BaseEstimator):
    """Kernel ridge regression on landmarks among the rows, in a metric that may be learned from the target.

    With `Φ` the features of :class:`Nystroem` and the target standardised, `min ‖Φβ - y‖² + alpha ‖β‖²`. The defaults are those of
    `dpp-nystrom fit`: the same rows and seed give the same model, bit for bit. A fit costs `c²` multiply-adds a row and
    what selection and metric cost; a prediction `c` kernel values, on all cores.

    C-contiguous arrays of float64 and float32 are read where they are by `predict`, and by `fit` with `scale=None`, `metric="one"` and a
    selector that reads rows in place (see :class:`Nystroem`); float32 is then the precision of the fit. Otherwise a fit works on a
    copy of the rows in float64.

    Parameters
    ----------
    n_components : int, default=None
        The number of landmarks, at most that of the rows. None: 100, and at most a quarter of the rows and as many as are
        independent under the kernel.
    alpha : float, {"cv", "loo"} or None, default=None
        The ridge, as in scikit-learn's `KernelRidge`: the ridge γ of the command line times the number of rows. None or "cv": chosen by
        10-fold cross-validation; "loo": by the leave-one-out error.
    metric : str, default="auto"
        "one": one bandwidth for all features. "scales": a scale for each, learned from the target. "map" or "map:R": a linear map
        of them, of rank R. "auto": whichever predicts rows that are held out best; with fewer than 100 rows, "one".
    scale : {"standard", "robust"} or None, default="standard"
        Standardise the features, or take them as they are.
    kernel, gamma, sigma, degree, coef0, selector, selector_params, landmarks, random_state, n_jobs
        As for :class:`Nystroem`; `gamma` and `sigma` refer to the scaled features.

    Attributes
    ----------
    alpha_ : float
        The ridge.
    component_indices_ : ndarray of int, shape (n_landmarks,)
        The landmarks, as row indices of the training rows (of the first batch, for `partial_fit`); not there for landmarks that are points.
    components_ : ndarray, shape (n_landmarks, n_features)
        The landmarks, in the units of the rows.
    dual_coef_ : ndarray, shape (n_landmarks,)
        The weights of the kernel values of the scaled rows.
    intercept_ : float
        The mean of the target, which is added to them.
    feature_importances_ : ndarray, shape (n_features,)
        The share of each feature in a learned metric, 1 in sum; equal shares for one bandwidth.
    metric_ : str or None
        The metric: "one", "scales" or "map:R". None for a model that was loaded.
    validation_error_ : float or None
        The root mean squared error by which `alpha` was chosen, in standard deviations of the target; None for a given `alpha`.
    sigma_, gamma_ : float
        The bandwidth, and the coefficient that it is; None for kernels without them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from dpp_nystrom import LandmarkRidge
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(1000, 4))
    >>> y = np.sin(2 * X[:, 0]) + 0.1 * X[:, 1]
    >>> model = LandmarkRidge(n_components=50, random_state=0).fit(X[:800], y[:800])
    >>> bool(model.score(X[800:], y[800:]) > 0.99)
    True
    >>> int(model.feature_importances_.argmax())
    0
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        alpha: float | str | None = None,
        metric: str = "auto",
        kernel: str = "rbf",
        gamma: float | None = None,
        sigma: float | str = "median",
        degree: int = 3,
        coef0: float = 1.0,
        selector: str = "auto",
        selector_params: dict[str, Any] | None = None,
        landmarks: ArrayLike | None = None,
        scale: str | None = "standard",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
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
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike) -> LandmarkRidge:
        """Select landmarks and fit the regression.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            The rows, at least 2, finite.
        y : array-like, shape (n_samples,)
            The target, finite and not constant, in any units.

        Returns
        -------
        self : LandmarkRidge

        Raises
        ------
        ValueError
            For values that are not finite, more landmarks than rows or than independent rows, a constant target, invalid parameters.
        KeyboardInterrupt
            After Ctrl-C: at the next block of work.
        """
        rows, target, names = self._checked(X, y, reset=True)
        options = self._options(len(rows), len(rows))
        self._adopt(_native.Model(rows, target, names, options))
        self.__dict__.pop("_sums", None)
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> LandmarkRidge:
        """Fit the regression to the rows of all batches so far.

        The first batch decides on landmarks, metric, bandwidth and scales: give it hundreds of rows or more. Later ones are added to the
        sums of the regression, `c²` multiply-adds a row, and not kept. A call solves the regression, `O(c³)`: give
        thousands of rows at a time. The folds of cross-validation do not depend on the batches.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            The rows of a batch, finite.
        y : array-like, shape (n_samples,)
            Their target.

        Returns
        -------
        self : LandmarkRidge

        Raises
        ------
        ValueError
            As :meth:`fit`.
        UserWarning
            After :meth:`fit` or :meth:`load`, which keep no sums: this begins anew.
        """
        sums = getattr(self, "_sums", None)
        if sums is None and hasattr(self, "_model"):
            warnings.warn("partial_fit begins anew: fit and load keep no sums to add to", stacklevel=2)
        rows, target, names = self._checked(X, y, reset=sums is None)
        if sums is None:
            sums = _native.Sums(rows, target, names, self._options(len(rows), len(rows)))
        threads = _parameters.threads(self.n_jobs)
        sums = sums.add(rows, target, threads)
        self._adopt(sums.model(self._ridge(sums.count), threads), sums.rows)
        self._sums = sums
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the prediction for each row.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            The rows, finite, in the units of those that the model was fitted to.

        Returns
        -------
        predictions : ndarray, shape (n_samples,)
            In the units of the target; in float32 for rows in float32, else in float64.
        """
        check_is_fitted(self)
        rows = _parameters.aligned(validate_data(self, X, **_parameters.ACCEPTED, reset=False))
        return self._model.predict(rows, _parameters.threads(self.n_jobs)).ravel()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, which `dpp-nystrom predict`, `export` and the library read. Parameters are not in it.

        Raises
        ------
        OSError
            If it cannot be written; a file that was there is then unchanged.
        """
        check_is_fitted(self)
        self._model.save(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LandmarkRidge:
        """Read a model that :meth:`save` or `dpp-nystrom fit` wrote.

        It predicts, and can be saved and exported. Its parameters are the defaults, not those of the fit.

        Raises
        ------
        OSError
            If the file cannot be read.
        ValueError
            If it is not a model, or damaged.
        """
        model = _native.Model.load(os.fspath(path))
        loaded = cls()
        loaded.n_features_in_ = len(model.feature_names)
        if model.feature_names != [f"x{feature}" for feature in range(loaded.n_features_in_)]:
            loaded.feature_names_in_ = np.asarray(model.feature_names, dtype=object)
        loaded._adopt(model)
        return loaded

    def export(
        self, form: str, *, quantise: str | None = None, include: tuple[str, ...] = (), name: str = "model"
    ) -> bytes:
        """Return the model as source code or bytes for a device.

        Parameters
        ----------
        form : {"c", "rust", "bytes"}
            A C99 header, a Rust file, or bytes for a region of the flash.
        quantise : {"i16", "i8"} or None, default=None
            Integers of this width; None: single precision.
        include : tuple of {"novelty", "variance"}, default=()
            What the device needs besides: limits of what is usual, and what variances are computed from (single precision, not in C).
        name : str, default="model"
            The prefix of the identifiers.

        Returns
        -------
        content : bytes
            What `dpp-nystrom export` writes.
        """
        check_is_fitted(self)
        return self._model.export(form, quantise, list(include), name)

    def _checked(self, X: ArrayLike, y: ArrayLike, reset: bool) -> tuple[NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Return rows and target as the library takes them, and their names."""
        target_name = getattr(y, "name", None)
        fewest = 2 if reset else 1
        rows, target = validate_data(
            self, X, y, **_parameters.ACCEPTED, y_numeric=True, reset=reset, ensure_min_samples=fewest
        )
        names = getattr(self, "feature_names_in_", None)
        features = None if names is None else [str(name) for name in names]
        target = _parameters.aligned(target.astype(np.float64, copy=False))
        return _parameters.aligned(rows), target, {"features": features, "target": target_name if isinstance(target_name, str) else "y"}

    def _options(self, rows: int, trained: int) -> dict[str, Any]:
        return _parameters.options(self, rows) | {"ridge": self._ridge(trained)}

    def _ridge(self, rows: int) -> float | str:
        """Return the library's ridge, which is multiplied by the number of rows."""
        if self.alpha is None or isinstance(self.alpha, str):
            return self.alpha or "cv"
        return _parameters.positive("alpha", self.alpha) / rows

    def _adopt(self, model: _native.Model, rows: list[int] | None = None) -> None:
        """Take a fitted model."""
        self._model = model
        self.alpha_ = model.ridge * model.trained_rows
        self.sigma_ = model.sigma
        self.gamma_ = _parameters.coefficient(model.kernel, model.sigma)
        self.dual_coef_ = np.asarray(model.weights)
        self.intercept_ = model.intercept
        self.components_ = model.landmarks
        self.metric_ = model.metric
        self.validation_error_ = model.validation_error
        width = len(model.feature_names)
        self.feature_importances_ = np.asarray(model.importances or [1 / width] * width)
        self.__dict__.pop("component_indices_", None)
        indices = model.rows if rows is None else rows
        if len(indices):
            self.component_indices_ = np.asarray(indices, dtype=np.intp)
