"""Landmarks for kernel methods: c-DPP sampling, Nyström features, and ridge regression and classes on them.

>>> import numpy as np
>>> from dpp_nystrom import LandmarkRidge
>>> X = np.random.default_rng(0).uniform(-3, 3, size=(2000, 5))
>>> y = np.sin(2 * X[:, 0]) * X[:, 1]
>>> model = LandmarkRidge(random_state=0).fit(X[:1500], y[:1500])
>>> bool(model.score(X[1500:], y[1500:]) > 0.99)
True
"""

from ._classifier import LandmarkClassifier
from ._native import VERSION as __version__
from ._nystroem import Nystroem
from ._ridge import LandmarkRidge
from ._sampling import inclusion_probabilities, sample_cdpp, select

__all__ = [
    "LandmarkClassifier",
    "LandmarkRidge",
    "Nystroem",
    "__version__",
    "inclusion_probabilities",
    "sample_cdpp",
    "select",
]
