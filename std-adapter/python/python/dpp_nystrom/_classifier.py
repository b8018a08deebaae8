"""Classes by logistic regression on landmarks."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from . import _native, _parameters, _progress, _tables
from ._model import LandmarkModel


class LandmarkClassifier(ClassifierMixin, LandmarkModel):
    """Classes by multinomial logistic regression on landmarks.

    All classes share landmarks, metric and penalty. The class of a row is that of the largest output; probabilities are a softmax of
    the outputs over a temperature, which has the largest likelihood on rows that had no part in the weights. The defaults are those of
    `dpp-nystrom fit --classes`: the same rows, labels and seed give the same model, bit for bit. There are two classes or more.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Weights of classes, by which those of their rows are multiplied; "balanced": inverse to their frequencies.
    alpha : float, {"cv", "loo"} or None, default=None
        The penalty, as for :class:`LandmarkRidge`. None, "cv" and "loo": chosen by the log-loss of validation rows. With fewer than 2,000
        rows the weights are those of least squares, unless logistic regression has a log-loss lower by more than its standard error.
    kernel : str or None, default=None
        As for :class:`LandmarkRidge`; None is "rbf".
    n_components, metric, gamma, sigma, degree, coef0, selector, selector_params, landmarks, scale, categorical_features, missing, keep, strict, tolerance, random_state, n_jobs, verbose, callbacks
        As for :class:`LandmarkRidge`.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The classes, sorted. A file has their labels as text: of a model that was loaded they are numbers or truth values again where all
        are written so.
    temperature_ : float
        The temperature of the probabilities.
    test_error_, test_error_se_, test_log_loss_, test_log_loss_se_ : float
        The share of rows in a wrong class and the log-loss, on rows that no choice has seen, with their standard errors.
    alpha_, component_indices_, components_, feature_importances_, feature_importances_std_, inverse_length_scales_, metric_
        As of :class:`LandmarkRidge`; importances are rises of the log-loss.
    validation_error_, sigma_, gamma_, taken_, n_features_in_, feature_names_in_
        As of :class:`LandmarkRidge`; the error is that of the probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from dpp_nystrom import LandmarkClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(900, 3))
    >>> y = np.where(np.hypot(X[:, 0], X[:, 1]) < 0.7, "inside", "outside")
    >>> model = LandmarkClassifier(n_components=50, random_state=0).fit(X[:600], y[:600])
    >>> bool(model.score(X[600:], y[600:]) > 0.95)
    True
    >>> model.predict([[0, 0, 0]]).tolist(), model.predict_proba([[0, 0, 0]]).shape
    (['inside'], (1, 2))
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        class_weight: dict[Any, float] | str | None = None,
        alpha: float | str | None = None,
        metric: str = "auto",
        kernel: str | None = None,
        gamma: float | None = None,
        sigma: float | str = "median",
        degree: int = 3,
        coef0: float = 1.0,
        selector: str = "auto",
        selector_params: dict[str, Any] | None = None,
        landmarks: ArrayLike | None = None,
        scale: str | None = "standard",
        categorical_features: ArrayLike | str | None = "from_dtype",
        missing: str | None = None,
        keep: ArrayLike = (),
        strict: bool = False,
        tolerance: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        callbacks: Iterable[_progress.Callback] | None = None,
    ) -> None:
        super().__init__(
            n_components,
            alpha=alpha,
            metric=metric,
            kernel=kernel,
            gamma=gamma,
            sigma=sigma,
            degree=degree,
            coef0=coef0,
            selector=selector,
            selector_params=selector_params,
            landmarks=landmarks,
            scale=scale,
            categorical_features=categorical_features,
            missing=missing,
            keep=keep,
            strict=strict,
            tolerance=tolerance,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
            callbacks=callbacks,
        )
        self.class_weight = class_weight

    @_parameters.whole
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> LandmarkClassifier:
        """Select landmarks and fit the regression.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            The rows, at least 2: numbers, or a table, as for :class:`LandmarkRidge`.
        y : array-like, shape (n_samples,)
            Their classes: numbers, text, truth values or categories. Rows of a table without one are left out. Text that the reader of
            tables takes for the same number ("1" and "01") or for a gap ("NA") is an error there.
        sample_weight : array-like, shape (n_samples,), default=None
            As for :meth:`LandmarkRidge.fit`. A class whose rows all have the weight 0 is left out.
        groups : array-like, shape (n_samples,), default=None
            As for :meth:`LandmarkRidge.fit`.

        Returns
        -------
        self : LandmarkClassifier

        Raises
        ------
        ValueError
            For a single class, values that are not finite, invalid parameters.
        KeyboardInterrupt
            After Ctrl-C: at the next block of work.
        """
        reading = _tables.learn(self, X, y, sample_weight, classes=True, groups=groups)
        if reading is not None:
            found = _tables.classes(y, reading)
            self._fit_table(reading, len(np.asarray(y)))
            self.classes_ = found
            self.__dict__.pop("_sums", None)
            return self
        name = getattr(y, "name", None)
        rows, classes = validate_data(self, _tables.numbers(X), y, **_parameters.ACCEPTED, ensure_min_samples=2)
        check_classification_targets(classes)
        rows, classes = _parameters.aligned(rows), column_or_1d(classes)
        weights = _parameters.weights(sample_weight, rows)
        if self.class_weight is not None:
            of_classes = compute_sample_weight(self.class_weight, classes)
            weights = of_classes if weights is None else weights * of_classes
        # Classes without rows of positive weight are left out, and so are their rows.
        found = np.unique(classes if weights is None or not weights.any() else classes[weights > 0])
        index = np.searchsorted(found, classes).clip(max=len(found) - 1)
        names = _parameters.names(getattr(self, "feature_names_in_", None), name, [str(label) for label in found])
        self._fit(rows, index.astype(np.float64), weights, names)
        self.classes_ = found
        self.__dict__.pop("_sums", None)
        return self

    @_parameters.whole
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> LandmarkClassifier:
        """Fit least squares of the indicators of the classes to the rows of all batches so far.

        The first batch decides on landmarks, metric, bandwidth and scales: give it hundreds of rows or more, of two classes at least. Later
        ones are added to the sums of the regression, as in :meth:`LandmarkRidge.partial_fit`; a further class costs `2c` multiply-adds a row.
        Each batch is predicted before it is added, and the temperature of the probabilities is that with the largest likelihood of the last
        4,096 rows so predicted; of the first batch, every fourth row.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            The rows of a batch, 8 or more in the first: finite numbers. Words and gaps are refused, and no column is left out.
        y : array-like, shape (n_samples,)
            Their classes.
        classes : array-like, shape (n_classes,), default=None
            All classes that may occur: at the first call, unless they are those of a fit before it; later None or the same.

        Returns
        -------
        self : LandmarkClassifier

        Raises
        ------
        ValueError
            As :meth:`fit`, for classes that are not given or others than those, for `class_weight`, and for more landmarks than independent
            rows in the first batch.
        UserWarning
            After :meth:`fit` or :meth:`load`, which keep no sums: this begins anew.
        """
        sums = getattr(self, "_sums", None)
        if sums is None and hasattr(self, "_model"):
            warnings.warn("partial_fit begins anew: fit and load keep no sums to add to", stacklevel=3)
        if self.class_weight is not None:
            raise ValueError("partial_fit counts each row once: leave out class_weight")
        known = self._known(classes, sums is None)
        name, fewest = getattr(y, "name", None), 8 if sums is None else 1
        rows, labels = validate_data(
            self, _tables.numbers(X), y, **_parameters.ACCEPTED, reset=sums is None, ensure_min_samples=fewest
        )
        check_classification_targets(labels)
        rows, labels = _parameters.aligned(rows), column_or_1d(labels)
        index = np.searchsorted(known, labels).clip(max=len(known) - 1)
        if (known[index] != labels).any():
            other = labels[known[index] != labels][0]
            raise ValueError(f"{other!r} is none of the classes: give all that may occur at the first call of partial_fit")
        threads, target = _parameters.threads(self.n_jobs), index.astype(np.float64)
        if sums is None:
            self.__dict__.pop("taken_", None)
            names = _parameters.names(getattr(self, "feature_names_in_", None), name, [str(label) for label in known])
            with _progress.of(self) as progress:
                options = self._options(len(rows), len(rows)) | {"progress": progress}
                sums = _native.Sums(rows, target, names, options)
            later = np.arange(len(rows)) % 4 == 3
            sums = sums.add(rows[~later], target[~later], None, threads)
            rows, target = rows[later], target[later]
            model = sums.model(self._ridge(sums.count), threads)
        else:
            model = self._model
        sums = sums.add(rows, target, model.predict(rows, threads), threads)
        self._adopt(sums.model(self._ridge(sums.count), threads), rows=sums.rows)
        self._sums, self.classes_ = sums, known
        return self

    def _known(self, classes: ArrayLike | None, is_first: bool) -> NDArray[Any]:
        """Return all classes of batches, sorted."""
        given = getattr(self, "classes_", None) if classes is None else classes
        if given is None:
            raise ValueError("give classes, all that may occur, at the first call of partial_fit")
        known = np.unique(np.asarray(given))
        if not is_first and not np.array_equal(known, self.classes_):
            raise ValueError("classes are those of the first call of partial_fit: omit them, or give the same")
        if len(known) < 2:
            raise ValueError(f"there are two classes or more, found {len(known)}")
        return known

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as :meth:`LandmarkRidge.save`.

        Raises
        ------
        OSError
            If it cannot be written; a file that was there is then unchanged.
        UserWarning
            Where labels are text that :meth:`load` takes for numbers or truth values.
        """
        super().save(path)
        if self.classes_.dtype.kind in "OUS" and _tables.labels_of([str(label) for label in self.classes_]).dtype.kind not in "OUS":
            warnings.warn("the labels are text and will be loaded as numbers or truth values; pickle keeps them", stacklevel=2)

    def decision_function(self, X: ArrayLike) -> NDArray[Any]:
        """Return the outputs of each row.

        Returns
        -------
        outputs : ndarray, shape (n_samples, n_classes), or (n_samples,) for two classes
            The logits times the temperature; of two classes, by how much the second's exceeds the first's.
        """
        outputs = self._outputs(X)
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row.

        Returns
        -------
        classes : ndarray, shape (n_samples,)
            Entries of `classes_`.
        """
        outputs = self._outputs(X)
        return np.asarray(self.classes_[outputs.argmax(axis=1)])

    def predict_proba(self, X: ArrayLike) -> NDArray[Any]:
        """Return the probability of each class for each row.

        Returns
        -------
        probabilities : ndarray, shape (n_samples, n_classes)
            In the order of `classes_`, 1 in sum.
        """
        rows = self._rows(X)
        return self._model.probabilities(rows, _parameters.threads(self.n_jobs))

    def predict_log_proba(self, X: ArrayLike) -> NDArray[Any]:
        """Return the logarithm of :meth:`predict_proba`."""
        return np.asarray(np.log(self.predict_proba(X)))

    def _adopt(self, model: _native.Model, total: float | None = None, rows: list[int] | None = None) -> None:
        if model.labels is None:
            raise ValueError("the model predicts numbers; load it with LandmarkRidge.load")
        super()._adopt(model, total, rows)
        self.classes_ = _tables.labels_of(model.labels)
        self.temperature_ = model.temperature
