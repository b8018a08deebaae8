"""Kernel ridge regression on landmarks."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from . import _native, _parameters, _progress, _tables
from ._model import LandmarkModel


class LandmarkRidge(RegressorMixin, LandmarkModel):
    """Kernel ridge regression on landmarks among the rows, in a metric that may be learned from the target.

    With `Φ` the features of :class:`Nystroem` and the target standardised, `min ‖Φβ - y‖² + alpha ‖β‖²`. The defaults are those of
    `dpp-nystrom fit`: the same rows and seed give the same predictions, bit for bit, and with its `--variance` the same file. A fit costs `c²` multiply-adds a row and
    what selection and metric cost; a prediction `c` kernel values, on all cores.

    No column of an array of numbers without gaps is left out, and sparse matrices become a dense copy. A table (a frame of pandas or polars, or an array with words or
    gaps) is read by the rules of the program: ids, empty and constant columns are left out, gaps filled, dates become their parts, and each word is a feature.
    What was done is told by a `UserWarning` and by `taken_`. A frame gives the model that its CSV file gives, bit for bit.

    C-contiguous arrays of float64 and float32 are read where they are by `predict`, and by `fit` with `scale=None`, `metric="one"` and a
    selector that reads rows in place (see :class:`Nystroem`); float32 is then the precision of the fit. Otherwise a fit works on a
    copy of the rows in float64.

    Parameters
    ----------
    n_components : int, default=None
        The number of landmarks at most: `fit` takes as many as there are independent rows, and warns where these are fewer;
        `partial_fit` refuses. None: 100 or a quarter of the rows, whichever is less,
        doubled while the error on validation rows falls, up to 800.
    alpha : float, {"cv", "loo"} or None, default=None
        The ridge, as in scikit-learn's `KernelRidge`: the ridge γ of the command line times the number of rows, or the sum of their
        weights. None or "cv": chosen by
        10-fold cross-validation; "loo": by the leave-one-out error.
    metric : str, default="auto"
        "one": one bandwidth for all features. "scales": a scale for each, learned from the target. "map" or "map:R": a linear map
        of them, of rank R. "auto": whichever has the lowest error on validation rows; with fewer than 100 rows, "one".
    scale : {"standard", "robust", "clipped"} or None, default="standard"
        Standardise the features, "robust" by medians and interquartile ranges, "clipped" with heavy tails clipped smoothly too; None
        takes them as they are.
    categorical_features : "from_dtype", None or array-like of names, indices or a mask, default="from_dtype"
        The columns of a table that are words even where they are numbers or dates. "from_dtype": categories. Levels of ordered categories
        keep their order, and others are sorted.
    missing : {"indicator", "mean", "error"} or None, default=None
        What becomes of gaps in features (NaN, None, NA): filled with the mean of the training rows, of words the share of each, with a feature that tells
        gaps of columns that had some in training, or without; or refused. None: "indicator", with `strict` "error".
    keep : array-like of names or indices, default=()
        The columns of a table that are not left out.
    strict : bool, default=False
        Convert nothing in a table but words: no column is left out; gaps, dates, amounts with units, columns of numbers and words, and in
        `predict` words that were in no training row, are errors.
    kernel : str or None, default=None
        A kernel of :class:`Nystroem` but "precomputed", or "auto": fit rbf, matern52, matern32 and laplacian, and take the one with the
        lowest error on validation rows. None: "auto" for 100 landmarks and more in the default metric and bandwidth, otherwise "rbf".
    tolerance : float, default=None
        In place of `n_components`: the least number of landmarks with a relative trace error `tr(K - K̃) / tr K` of at most this, up to
        half of the rows and 1,000.
    flash : int, default=None
        Fit the model with the least error, as a device computes it, whose prediction takes at most so many bytes of flash. Metric, bandwidth
        and landmarks are chosen by that, for one kernel; `export` then takes the numbers that were chosen. One target; 50 rows or more.
    gamma, sigma, degree, coef0, selector, selector_params, landmarks, random_state, n_jobs, verbose, callbacks
        As for :class:`Nystroem`; `gamma` and `sigma` refer to the scaled features.

    Attributes
    ----------
    alpha_ : float
        The ridge.
    component_indices_ : ndarray of int, shape (n_landmarks,)
        The landmarks, as row indices of the training rows (of the first batch, for `partial_fit`); not there for landmarks that are points.
    components_ : ndarray, shape (n_landmarks, n_features)
        The landmarks, in the units of the rows; of a table, the features of :meth:`get_feature_names_out`.
    taken_ : list of dict
        The columns of a table that were not read as they stand: `column`, `what` became of it, and whether it was `left_out`.
    dual_coef_ : ndarray, shape (n_landmarks,) or (n_landmarks, n_outputs)
        The weights of the kernel values of the scaled rows.
    intercept_ : float or ndarray, shape (n_outputs,)
        The mean of each target, which is added to them.
    feature_importances_ : ndarray, shape (n_features_in,)
        The rise of the error where the feature is permuted, over the error, on rows that no choice has seen (Breiman 2001): the mean of
        five permutations; 0 for a column that was left out. Not there after `partial_fit`.
    feature_importances_std_ : ndarray, shape (n_features_in,)
        Its standard deviation over the permutations.
    inverse_length_scales_ : ndarray, shape (n_features,), or None
        The inverse length-scale of each scaled feature in a learned metric, in bandwidths; None for one bandwidth. It is no importance.
    test_error_, test_error_se_ : float
        The root mean squared error on test rows, in standard deviations of the target, and half the width of its 95 % interval, with
        Student's t, over 1.96. A tenth of the rows are test rows (two or three tenths below 1,200 rows): metric, kernel, landmarks and
        ridge are chosen without them, and the error is that of a model of the others. Ridge and weights are then fitted to all rows. Not
        there after `partial_fit`, and with fewer than 20 rows.
    metric_ : str or None
        The metric: "one", "scales" or "map:R". None for a model that was loaded.
    validation_error_ : float or None
        The root mean squared error by which `alpha` was chosen, in standard deviations of the target; None for a given `alpha`. Too low
        as an error on new rows: take `test_error_`.
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

    @_parameters.whole
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> LandmarkRidge:
        """Select landmarks and fit the regression.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            The rows, at least 2: numbers, or a table. Infinities are refused.
        y : array-like, shape (n_samples,) or (n_samples, n_outputs)
            The target, finite and not constant, in any units; several share landmarks, metric and ridge. Rows of a table without a target are left out.
        sample_weight : array-like, shape (n_samples,), default=None
            The weights of the rows, at least 0: a row of weight `w` counts as `w` rows, also in the statistics that scale features and
            target, and in cross-validation; one of weight 0 is left out. The selection of landmarks does not depend on them.
        groups : array-like, shape (n_samples,), default=None
            What rows belong to: a patient, a machine. Rows of one group are held out together, so that metric, landmarks, ridge and
            `test_error_` are those for groups that were not seen.

        Returns
        -------
        self : LandmarkRidge

        Raises
        ------
        ValueError
            For values that are not finite, a constant target, invalid parameters, and what `strict` refuses.
        KeyboardInterrupt
            After Ctrl-C: at the next block of work.
        """
        try:
            reading = _tables.learn(self, X, y, sample_weight, groups=groups)
            if reading is None:
                rows, target, names = self._checked(X, y, reset=True, several=True)
                self._fit(rows, target, sample_weight, names)
            else:
                self._fit_table(reading, len(np.asarray(y)))
        except ValueError as error:
            if (word := _tables.word_of(y)) is None:
                raise
            raise ValueError(f"y holds words, such as {word!r}, and LandmarkRidge predicts numbers; use LandmarkClassifier for classes") from error
        self.__dict__.pop("_sums", None)
        return self

    @_parameters.whole
    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> LandmarkRidge:
        """Fit the regression to the rows of all batches so far.

        The first batch decides on landmarks, metric, bandwidth and scales: give it hundreds of rows or more. Later ones are added to the
        sums of the regression, `c²` multiply-adds a row, and not kept. A call solves the regression, `O(c³)`: give
        thousands of rows at a time. Each row counts once. The folds of cross-validation do not depend on the batches.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            The rows of a batch: finite numbers. Words and gaps are refused, and no column is left out.
        y : array-like, shape (n_samples,)
            Their target.

        Returns
        -------
        self : LandmarkRidge

        Raises
        ------
        ValueError
            As :meth:`fit`, and for more landmarks than independent rows in the first batch.
        UserWarning
            After :meth:`fit` or :meth:`load`, which keep no sums: this begins anew.
        """
        sums = getattr(self, "_sums", None)
        if sums is None and hasattr(self, "_model"):
            warnings.warn("partial_fit begins anew: fit and load keep no sums to add to", stacklevel=3)
        rows, target, names = self._checked(X, y, reset=sums is None)
        if sums is None:
            self.__dict__.pop("taken_", None)
            with _progress.of(self) as progress:
                options = self._options(len(rows), len(rows)) | {"progress": progress}
                sums = _native.Sums(rows, target, names, options)
        threads = _parameters.threads(self.n_jobs)
        sums = sums.add(rows, target, None, threads)
        self._adopt(sums.model(self._ridge(sums.count), threads), rows=sums.rows)
        self._sums = sums
        return self

    def predict(self, X: ArrayLike, return_std: bool = False, return_novelty: bool = False) -> Any:
        """Return the prediction for each row, and what is known of it.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            The rows, in the units of those that the model was fitted to. A word that was in no training row sets all features of its column to 0, with a warning.
        return_std : bool, default=False
            Return the standard deviation of a new observation as well: of one target. `c²` multiply-adds a row.
        return_novelty : bool, default=False
            Return the distance to the nearest landmark as well, in standard deviations of the features, or as a learned map has it: the
            column `nearest` of the program, whose `novelty` is a mark of rows that are far. Of one target.

        Returns
        -------
        predictions : ndarray, shape (n_samples,) or (n_samples, n_outputs)
            In the units of the target; in float32 for rows in float32, else in float64. Of several targets, a column for each.
        std : ndarray, shape (n_samples,)
            With `return_std`, in the units of the target.
        novelty : ndarray, shape (n_samples,)
            With `return_novelty`.

        Raises
        ------
        ValueError
            With either for several targets. With `return_std` for a model that has no variances: after `partial_fit`, of fewer than 100 rows
            beside the landmarks, of 2,048 landmarks or more, and of `dpp-nystrom fit` without `--variance`.
        """
        if not (return_std or return_novelty):
            outputs = self._outputs(X)
            return outputs.ravel() if outputs.ndim == 1 or outputs.shape[1] == 1 else outputs
        rows = self._rows(X)
        if np.ndim(self.intercept_) > 0:
            raise ValueError("standard deviations and novelty are of one target: fit a model to each")
        if return_std and not self._model.has_variance:
            raise ValueError(
                "the model has no variances: they take fit (not partial_fit), one target, and at least 100 rows beside the landmarks; "
                "of a file, run dpp-nystrom fit with --variance"
            )
        value, std, novelty = self._model.assess(rows, _parameters.threads(self.n_jobs)).T
        return (value, *([std] if return_std else []), *([novelty] if return_novelty else []))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _checked(
        self, X: ArrayLike, y: ArrayLike, reset: bool, several: bool = False
    ) -> tuple[NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Return rows and target as the library takes them, and their names."""
        target_name, columns = getattr(y, "name", None), getattr(y, "columns", None)
        fewest = 2 if reset else 1
        rows, target = validate_data(
            self, _tables.numbers(X), y, **_parameters.ACCEPTED, y_numeric=True, multi_output=several, reset=reset, ensure_min_samples=fewest
        )
        targets = None
        if target.ndim == 2 and target.shape[1] > 1:
            targets = [f"y{place}" for place in range(target.shape[1])] if columns is None else [str(name) for name in columns]
        names = _parameters.names(getattr(self, "feature_names_in_", None), target_name, targets=targets)
        target = target.astype(np.float64, copy=False).ravel()
        return _parameters.aligned(rows), _parameters.aligned(target), names

    def _adopt(self, model: _native.Model, total: float | None = None, rows: list[int] | None = None) -> None:
        if model.labels is not None:
            raise ValueError("the model is one of classes; load it with LandmarkClassifier.load")
        super()._adopt(model, total, rows)
        weights, means = np.asarray(model.weights).T, np.asarray(model.intercepts)
        several = len(means) > 1
        self.dual_coef_ = weights if several else weights[:, 0]
        self.intercept_ = means if several else float(means[0])
