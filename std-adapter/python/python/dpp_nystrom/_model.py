"""What models on landmarks share: parameters, files, exports."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native, _parameters, _plots, _progress, _tables

if TYPE_CHECKING:
    from typing_extensions import Self

MEASURED = (
    "feature_importances_",
    "feature_importances_std_",
    "test_error_",
    "test_error_se_",
    "test_log_loss_",
    "test_log_loss_se_",
)
"""What a fit measures on rows that it leaves out, and a model of sums does not have."""


LISTED = 5
"""Columns that the head of a page names: as many as the program."""


class LandmarkModel(BaseEstimator):
    """A regression on landmarks: the base of :class:`LandmarkRidge` and :class:`LandmarkClassifier`."""

    _notes: list[str]

    def __init__(
        self,
        n_components: int | None = None,
        *,
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
        flash: int | None = None,
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
        self.categorical_features = categorical_features
        self.missing = missing
        self.keep = keep
        self.strict = strict
        self.tolerance = tolerance
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks
        self.flash = flash

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
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that :meth:`save` or `dpp-nystrom fit` wrote.

        It predicts, and can be saved and exported. Of its parameters, `kernel` and `n_components` are the model's; a file does not hold the
        others, which are the defaults and not those of the fit.

        Raises
        ------
        OSError
            If the file cannot be read.
        ValueError
            If it is not a model, or damaged.
        """
        model = _native.Model.load(os.fspath(path))
        loaded = cls(kernel=model.kernel, n_components=len(model.landmarks))
        names = model.feature_names if model.recipe is None else model.recipe.columns
        loaded.n_features_in_ = len(names)
        if names != [f"x{feature}" for feature in range(loaded.n_features_in_)]:
            loaded.feature_names_in_ = np.asarray(names, dtype=object)
        loaded._finds_columns = True
        loaded._adopt(model)
        return loaded

    def export(
        self, form: str, *, quantise: str | None = None, include: tuple[str, ...] = (), name: str = "model"
    ) -> bytes:
        """Return the model as source code or bytes for a device, or as a graph for servers.

        Parameters
        ----------
        form : {"c", "rust", "bytes", "onnx"}
            A C99 header, a Rust file, or bytes for a region of the flash; or an ONNX graph in the model's own precision: `rows` in,
            shape (N, len(get_feature_names_out())), float64, or float32 if the model was fitted to it; `predictions`, N by targets, or
            `label` (text) and `probabilities` out. It takes neither `quantise` nor `include`.

            All forms take features and no table. Of a model that was fitted to one, the caller makes them, in the order of
            `get_feature_names_out`: a 0/1 column a word, a column a part of a date, and NaN where a value is missing.
        quantise : {"f32", "i16", "i8"} or None, default=None
            Single precision, or integers of this width; None: those that `dpp-nystrom fit --flash` chose the model for, else single precision.
        include : tuple of {"novelty", "variance"}, default=()
            What the device needs besides: limits of what is usual, and what variances are computed from (single precision, not in C).
        name : str, default="model"
            The prefix of the identifiers, or the name of the graph.

        Returns
        -------
        content : bytes
            What `dpp-nystrom export` writes.
        """
        check_is_fitted(self)
        return self._model.export(form, quantise, list(include), name)

    def report(self, path: str | os.PathLike[str], *, name: str | None = None) -> None:
        """Write the page of the fit, which `dpp-nystrom fit --report` writes: one HTML file without scripts.

        It has the choices of the fit, errors and pictures of rows that no choice has seen, importances and partial dependence, landmarks and
        novelty. :meth:`fit` keeps at most 4,000 rows for it; they are not pickled.

        Parameters
        ----------
        path : str or path
            The file, which is replaced as a whole.
        name : str, default=None
            What the rows are called.

        Raises
        ------
        OSError
            If it cannot be written; a file that was there is then unchanged.
        ValueError
            For a model that was loaded, unpickled or fitted by `partial_fit`.
        """
        check_is_fitted(self)
        again, notes = f"{self!r}.fit(X, y)", getattr(self, "_notes", [])
        self._model.report(os.fspath(path), name, again, notes, _parameters.threads(self.n_jobs))

    def _outputs(self, X: ArrayLike) -> NDArray[Any]:
        """Return the outputs of the model, a column for each target or class."""
        rows = self._rows(X)
        return self._model.predict(rows, _parameters.threads(self.n_jobs))

    def _rows(self, X: ArrayLike) -> NDArray[Any]:
        """Return rows for a prediction as the library takes them."""
        check_is_fitted(self)
        return _tables.rows_for(self, X, self._model.recipe)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the features that the columns became, such as `heating=gas`: the columns of `components_`.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Not used; the names are those of the fit.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        return np.asarray(self._model.feature_names, dtype=object)

    def plot_importance(self, ax: Any = None) -> Any:
        """Draw the importances of the columns as bars, with their standard deviations: at most 20, the largest.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: in a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            Where matplotlib is not installed.
        ValueError
            For a model without importances: after `partial_fit`, and of fewer than 20 rows.
        """
        check_is_fitted(self)
        if not hasattr(self, "feature_importances_"):
            raise ValueError("the model has no importances: call fit, with at least 20 rows")
        names = getattr(self, "feature_names_in_", None)
        names = [f"x{place}" for place in range(self.n_features_in_)] if names is None else [str(name) for name in names]
        return _plots.importance(ax, names, self.feature_importances_, self.feature_importances_std_)

    def plot_landmarks(self, X: ArrayLike, ax: Any = None) -> Any:
        """Draw rows and landmarks in the first two kernel principal components of the rows' features.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            The rows, as :meth:`predict` takes them: of more than 1,000, as many that are evenly spaced.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: in a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            Where matplotlib is not installed.
        """
        rows = self._rows(X)
        sample = np.ascontiguousarray(rows[:: -(-len(rows) // _plots.ROWS)])
        points, centres, shares = self._model.components(sample, _parameters.threads(self.n_jobs))
        return _plots.landmarks(ax, points, centres, shares)

    def _repr_html_inner(self) -> str:
        """Return scikit-learn's diagram, and of a fitted model the head of its page."""
        diagram = str(super()._repr_html_inner())
        if not hasattr(self, "_model"):
            return diagram
        head = {
            "target": self._model.target_name,
            "landmarks": f"{len(self.components_)} of {self._model.trained_rows} rows",
            "kernel": self._model.kernel,
            "metric": self.metric_,
        }
        if hasattr(self, "test_error_"):
            unit = "of rows in a wrong class" if self._model.labels else "standard deviations of the target"
            head["test error"] = f"{self.test_error_:.3g} ± {self.test_error_se_:.1g} {unit}"
        if self._model.importances is not None:
            names, rises, _ = self._model.importances
            largest = sorted(zip(names, rises, strict=True), key=lambda column: -column[1])[:LISTED]
            head["importances"] = ", ".join(f"{column} {100 * rise:.3g} %" for column, rise in largest)
        if left_out := [taken["column"] for taken in getattr(self, "taken_", []) if taken["left_out"]]:
            head["columns left out"] = ", ".join(left_out)
        cells = (f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in head.items() if value is not None)
        return f"{diagram}<table>{''.join(cells)}</table>"

    def __sklearn_tags__(self) -> Any:
        return _tables.tagged(self, super().__sklearn_tags__())

    def _fit(
        self,
        rows: NDArray[Any],
        target: NDArray[Any],
        sample_weight: ArrayLike | None,
        names: dict[str, Any],
    ) -> None:
        """Fit a model in one call."""
        weights = _parameters.weights(sample_weight, rows)
        total = float(len(rows)) if weights is None else float(weights.sum())
        with _progress.of(self) as progress:
            options = self._options(len(rows), total) | {"progress": progress}
            model = _native.Model(rows, target, weights, names, options)
        self._take(model, total)
        self._means = _parameters.means(rows)

    def _fit_table(self, reading: _native.Reading, rows: int) -> None:
        """Fit a model to a table of so many rows."""
        with _progress.of(self) as progress:
            options = self._options(rows, reading.total) | {"progress": progress}
            model = _native.Model.of_table(reading, options)
        self._take(model, reading.total)

    def _take(self, model: _native.Model, total: float) -> None:
        """Take a fitted model, and tell if it has fewer landmarks than were asked for."""
        self._adopt(model, total)
        count = len(self.components_)
        if self.landmarks is None and self.n_components is not None and count < self.n_components:
            note = f"{count} landmarks of the {self.n_components} asked for: no more rows are independent under this kernel"
            self._notes = [*self._notes, note]
            warnings.warn(note, stacklevel=5)

    def _options(self, rows: int, trained: float) -> dict[str, Any]:
        own: dict[str, Any] = {"ridge": self._ridge(trained)}
        if self.tolerance is not None:
            if self.n_components is not None or self.landmarks is not None:
                raise ValueError("tolerance chooses the number of landmarks: leave out n_components and landmarks")
            own["tolerance"] = _parameters.positive("tolerance", self.tolerance)
        if self.flash is not None:
            own["flash"] = self._flash()
        return _parameters.options(self, rows) | own

    def _flash(self) -> int:
        """Return the bytes of flash, which decide on all that is chosen otherwise."""
        chosen = ("n_components", "landmarks", "tolerance", "gamma")
        given = [name for name in chosen if getattr(self, name) is not None]
        given += [name for name, usual in (("metric", "auto"), ("sigma", "median")) if getattr(self, name) != usual]
        given += ["kernel"] if self.kernel == "auto" else []
        if given:
            raise ValueError(f"flash chooses metric, bandwidth and landmarks for one kernel: leave out {', '.join(given)}")
        return _parameters.count("flash", self.flash)

    def _ridge(self, total: float) -> float | str:
        """Return the library's ridge, which is multiplied by the sum of the weights."""
        if self.alpha is None or isinstance(self.alpha, str):
            return self.alpha or "cv"
        alpha = _parameters.positive("alpha", self.alpha)
        return alpha / total if total > 0 else alpha

    def _adopt(self, model: _native.Model, total: float | None = None, rows: list[int] | None = None) -> None:
        """Take a fitted model."""
        self._model = model
        self.alpha_ = model.ridge * (model.trained_rows if total is None else total)
        self.sigma_ = model.sigma
        self.gamma_ = _parameters.coefficient(model.kernel, model.sigma)
        self.components_ = model.landmarks
        self.metric_ = model.metric
        self.validation_error_ = model.validation_error
        self.inverse_length_scales_ = None if model.scales is None else np.asarray(model.scales)
        for name in (*MEASURED, "_means"):
            self.__dict__.pop(name, None)
        if model.importances is not None:
            columns, *measured = model.importances
            own = getattr(self, "feature_names_in_", None)
            names = _native.column_names([""] * self.n_features_in_ if own is None else [str(name) for name in own])
            # A column that was left out has none.
            places = np.arange(len(columns)) if model.recipe is None else np.asarray([names.index(name) for name in columns])
            full = np.zeros((2, len(columns) if model.recipe is None else len(names)))
            full[:, places] = measured
            self.feature_importances_, self.feature_importances_std_ = full
        if model.test_error is not None:
            self.test_error_, self.test_error_se_, log_loss = model.test_error
            if log_loss is not None:
                self.test_log_loss_, self.test_log_loss_se_ = log_loss
        indices = model.rows if rows is None else rows
        if len(indices):
            self.component_indices_ = np.asarray(indices, dtype=np.intp)
