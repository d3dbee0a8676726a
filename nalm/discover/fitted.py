"""Use of fitted laws: predictions, views as text, SymPy, source or a network, and files."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from nalm.discover.discovery import FittedLaw
from nalm.discover.law import Law
from nalm.discover.law.code import to_c, to_excel, to_numpy
from nalm.discover.law.files import load, save
from nalm.discover.law.names import check_count
from nalm.discover.law.nature import offered

if TYPE_CHECKING:
    import torch


class FittedLaws:
    """Views of a fitted estimator: one value for each output, or the value itself if there is one output."""

    found_: tuple[FittedLaw, ...]
    columns_: list[str] | None
    several_: bool
    names_: tuple[str, ...]
    n_features_in_: int
    seconds_: float
    feature_names_in_: Any
    constants: Sequence[str]
    X_units: Sequence[str] | None

    def _check(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)

    @property
    def laws_(self) -> tuple[Law, ...]:
        """The laws, one for each output."""
        return tuple(f.law for f in self.found_)

    @property
    def formula_(self) -> Any:
        """The law as text."""
        return self._each([str(f.law) for f in self.found_])

    @property
    def certificate_(self) -> Any:
        """The certificate of the law."""
        return self._each([f.certificate for f in self.found_])

    @property
    def equations_(self) -> Any:
        """The candidates, best first."""
        return self._each([f.equations for f in self.found_])

    @property
    def groups_(self) -> Any:
        """The own constants of each group, by label and name, with their intervals; None without groups."""
        return self._each([None if f.groups is None else f.groups.own for f in self.found_])

    @property
    def offered_(self) -> Any:
        """Pairs of a fitted number of the law and a constant of nature that it agrees with."""
        units = self.X_units is not None
        return self._each([offered(f.equations[0].constants, self.constants, units) for f in self.found_])

    def sympy(self) -> Any:
        """Return the law in SymPy."""
        self._check()
        return self._each([law.sympy() for law in self.laws_])

    def latex(self) -> Any:
        """Return the law in LaTeX."""
        self._check()
        return self._each([law.latex() for law in self.laws_])

    def to_latex(self) -> Any:
        """Return the law in LaTeX, as ``latex`` does."""
        return self.latex()

    def to_python(self, name: str = "law") -> Any:
        """Return the law as a Python function of NumPy arrays."""
        return self._coded(lambda law: to_numpy(law, name))

    def to_c(self, name: str = "law") -> Any:
        """Return the law as a function in C99."""
        return self._coded(lambda law: to_c(law, name))

    def to_excel(self, cells: Sequence[str] | None = None) -> Any:
        """Return the law as the formula of a cell; ``cells`` are those of the columns, A2, B2, ... if not given."""
        return self._coded(lambda law: to_excel(law, cells))

    def _coded(self, code: Callable[[Law], str]) -> Any:
        self._check()
        return self._each([code(law) for law in self.laws_])

    def to_module(self, dtype: "torch.dtype | None" = None) -> "torch.nn.Module":
        """Build the law as a trainable network of units, ``(*batch, inputs) -> (*batch, outputs)``."""
        from nalm.discover.law.network import Outputs

        self._check()
        modules = [law.to_module(dtype) for law in self.laws_]
        return Outputs(modules) if self.several_ else modules[0]

    def _columns(self, names: Sequence[str] | None) -> list[str] | None:
        named = getattr(self, "feature_names_in_", names)
        return None if named is None else list(check_count(named, self.n_features_in_))

    def _each(self, values: list[Any]) -> Any:
        return values if self.several_ else values[0]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the laws as JSON, which is complete, and the weights of their network beside it as safetensors."""
        self._check()
        save(Path(path), self.found_, self.columns_, self.several_)

    def predict(
        self,
        X: Any,  # noqa: N803
        return_support: bool = False,
        return_interval: bool = False,
        groups: Any = None,
    ) -> Any:
        """Evaluate the law on every row; with ``return_support`` also return a word for each row.

        The words: inside or outside the range of the data, singular (something the law divides by is far smaller than
        ever seen), overflow, or undefined (a root of a negative number). With ``return_interval`` also return the ends
        of the interval, (rows, 2), in which a new measurement lies with 95% confidence if the law is right: they
        follow from the noise, additive, relative or given as the certificate says, and from the errors of the numbers.
        ``groups`` is the label of each row, if the law was fitted to groups.
        """
        from sklearn.utils.validation import validate_data

        self._check()
        x = validate_data(self, X, reset=False, dtype=np.float64)
        with np.errstate(all="ignore"):
            found = [np.stack([f.predict(x, groups) for f in self.found_], 1)]
            if return_support:
                found.append(np.stack([f.support(x, groups) for f in self.found_], 1))
            if return_interval:
                found.append(np.stack([f.interval(x, groups) for f in self.found_], 1))
        values = [v if self.several_ else v[:, 0] for v in found]
        return values[0] if len(values) == 1 else tuple(values)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what ``save`` wrote; nothing in the file is executed."""
        self = cls()
        self.found_, self.columns_, self.several_ = load(Path(path))
        own = 0 if self.found_[0].groups is None else len(self.found_[0].groups.names)
        self.names_ = self.laws_[0].names[: len(self.laws_[0].names) - own]
        self.n_features_in_ = len(self.names_)
        self.seconds_ = 0.0
        if self.columns_ is not None:
            self.feature_names_in_ = np.array(self.columns_, dtype=object)
        return self
