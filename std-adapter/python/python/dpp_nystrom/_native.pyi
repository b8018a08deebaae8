"""The extension module. Arrays are C-contiguous and aligned, in float64 or float32; targets in float64."""

from typing import Any

from numpy.typing import NDArray

VERSION: str

class Map:
    rows: list[int] | None
    metric: str | None
    rank: int
    sigma: float | None
    landmarks: NDArray[Any]
    def __new__(
        cls, rows: NDArray[Any], target: NDArray[Any] | None, names: dict[str, Any], options: dict[str, Any]
    ) -> Map: ...
    @staticmethod
    def of_state(state: tuple[Any, ...]) -> Map: ...
    def transform(self, rows: NDArray[Any], threads: int | None) -> NDArray[Any]: ...

class GramMap:
    rank: int
    def __new__(cls, gram: list[float]) -> GramMap: ...
    def transform(self, rows: NDArray[Any], threads: int | None) -> NDArray[Any]: ...

class Model:
    validation_error: float | None
    metric: str | None
    feature_names: list[str]
    target_name: str
    rows: list[int]
    landmarks: NDArray[Any]
    weights: list[list[float]]
    intercepts: list[float]
    kernel: str
    sigma: float | None
    ridge: float
    trained_rows: int
    recipe: Recipe | None
    importances: tuple[list[str], list[float], list[float]] | None
    test_error: tuple[float, float, tuple[float, float] | None] | None
    scales: list[float] | None
    labels: list[str] | None
    temperature: float | None
    def __new__(
        cls,
        rows: NDArray[Any],
        target: NDArray[Any],
        weights: NDArray[Any] | None,
        names: dict[str, Any],
        options: dict[str, Any],
    ) -> Model: ...
    @staticmethod
    def of_table(reading: Reading, options: dict[str, Any]) -> Model: ...
    @staticmethod
    def of_bytes(bytes: bytes, validation_error: float | None, metric: str | None) -> Model: ...
    @staticmethod
    def load(path: str) -> Model: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: str) -> None: ...
    def report(self, path: str, name: str | None, again: str, notes: list[str], threads: int | None) -> None: ...
    def predict(self, rows: NDArray[Any], threads: int | None) -> NDArray[Any]: ...
    has_variance: bool
    def assess(self, rows: NDArray[Any], threads: int | None) -> NDArray[Any]: ...
    def probabilities(self, rows: NDArray[Any], threads: int | None) -> NDArray[Any]: ...
    def components(self, rows: NDArray[Any], threads: int | None) -> tuple[NDArray[Any], NDArray[Any], list[float]]: ...
    def export(self, form: str, quantise: str | None, include: list[str], name: str) -> bytes: ...

class Reading:
    recipe: Recipe
    rows: NDArray[Any]
    target: NDArray[Any] | None
    labels: list[str] | None
    total: float
    dropped: list[int]
    lost: int
    def __new__(cls, frame: dict[str, Any], how: dict[str, Any]) -> Reading: ...

class Recipe:
    columns: list[str]
    words: list[str]
    feature_names: list[str]
    taken: list[tuple[str, str, bool]]
    def read(self, frame: dict[str, Any], strict: bool) -> tuple[NDArray[Any], int]: ...
    @staticmethod
    def of_state(state: bytes) -> Recipe: ...

class Sums:
    rows: list[int] | None
    metric: str | None
    count: int
    def __new__(cls, rows: NDArray[Any], target: NDArray[Any], names: dict[str, Any], options: dict[str, Any]) -> Sums: ...
    @staticmethod
    def of_state(
        spec: bytes,
        folds: bytes,
        rows: list[int] | None,
        metric: str | None,
        scales: list[float] | None,
        unseen: tuple[list[float], list[int]],
    ) -> Sums: ...
    def add(
        self, rows: NDArray[Any], target: NDArray[Any], outputs: NDArray[Any] | None, threads: int | None
    ) -> Sums: ...
    def model(self, ridge: float | str, threads: int | None) -> Model: ...

def select(
    rows: NDArray[Any], target: NDArray[Any] | None, precomputed: bool, options: dict[str, Any]
) -> list[tuple[int, float]]: ...
def inclusion(rows: NDArray[Any], precomputed: bool, options: dict[str, Any]) -> list[float]: ...
def sample_exact(rows: NDArray[Any], precomputed: bool, samples: int, options: dict[str, Any]) -> list[list[int]]: ...
def column_names(names: list[str]) -> list[str]: ...
