"""The search as a scikit-learn estimator: fit a table, read the law and its certificate, predict with support."""

import time
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from nalm.discover import Discovery, search
from nalm.discover.arguments import (
    check_frame,
    digits_of,
    numbers_in,
    print_line,
    seconds_of,
    seed_of,
    units_of,
    weighted_rows,
)
from nalm.discover.digits import Digits
from nalm.discover.discovery import Equation as Equation
from nalm.discover.discovery import FittedLaw, check_selection
from nalm.discover.fitted import FittedLaws
from nalm.discover.form.search import search_form, search_form_groups
from nalm.discover.grouped.search import search_groups
from nalm.discover.law.names import clean_names
from nalm.discover.law.nature import named, with_constants
from nalm.errors import NALMError

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.utils import Tags
    from sklearn.utils.validation import validate_data
except ImportError:
    raise NALMError("NALMRegressor needs scikit-learn 1.6 or newer: pip install 'nalm[sklearn]'.") from None


class NALMRegressor(FittedLaws, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Find the law :math:`y = f(x)` behind a table, exact where the data allows, and test what can be said about it.

    Parameters
    ----------
    noise : float or None
        Standard deviation of the noise on y over that of y. 0 looks for laws that hold to rounding only, a
        level for laws consistent with it, None (default) for either.
    max_time : float or None
        Seconds for the whole fit. When they are over, the best candidate is kept, with the verdict none.
    stages : sequence of str or None
        The stages to try, in this order (names of ``nalm.discover.STAGES``); all by default.
    X_units, y_unit : sequence of str and str, or None
        Units of measurement, such as ``["kg", "m/s"]`` and ``"J"``; for several outputs a sequence of them.
        Every law then has the dimension of y: exponents obey that exactly, and only like is added to like.
        Numbers have no dimension.
    form : str or None
        A known form, such as ``"a*T*n/V + b"`` or ``"log(y) = a - b*x"``: its parameters are fitted, no search.
    select : "evidence", "knee", "accurate" or int
        Which law of the front is taken under noise: the one with the most evidence (default), the one at which the
        error falls most steeply with size, the one with the smallest error, or the one at this place of ``equations_``.
    digits : int, sequence or None
        Significant digits of the table, if it was rounded and the numbers do not show it; or, for each column and then
        each target, a ``nalm.discover.digits.Printed`` or None, as ``nalm fit`` reads it from the text of a file.
    bootstrap : int
        How often rows are drawn again for the intervals of the law's numbers, such as 200; 0 (default): never.
    contains, without : sequence of str
        Columns that the law must have, and must not have, by their names in the law.
    exponents : "any", "half" or "integer"
        Which exponents the law may have.
    functions : sequence of str or None
        The functions that the law may have, such as ``("exp",)``; () is none, None (default) is all.
    constants : sequence of str
        Constants of nature, such as ``("R", "g")``: usable in ``form``, and offered for fitted numbers (``offered_``).
    n_jobs : int or None
        How many processes try stages of the search at the same time; -1 one on each core, None (default) one.
        The law is the same; what takes seconds, such as nested laws, is found sooner.
    random_state : int, RandomState or None
        Which rows are held out, and random starts. None is 0: a fit is always the same.
    verbose : int
        1 prints one line per stage.

    Attributes
    ----------
    formula_ : str, or a list of them for several outputs
    certificate_ : Certificate, or a list; it is true unless its verdict is none, and ``meaning`` explains it
    equations_ : list of Equation (formula, size, error, stage, verdict, worse, constants), or a list of such lists;
        the front of laws, of different structure, the law itself first
    laws_ : tuple of Law, one per output
    names_ : tuple of str, the columns as formulas name them
    columns_ : list of str or None, the columns' own names

    >>> x = np.random.default_rng(0).uniform(1, 5, (200, 3))
    >>> found = NALMRegressor().fit(x, 6.674 * x[:, 0] * x[:, 1] / x[:, 2] ** 2)
    >>> print(found.formula_, found.certificate_.verdict, found.predict([[1, 2, 0.5]]))
    6.674*x0*x1/x2**2 exact [53.392]
    """

    def __init__(
        self,
        *,
        noise: float | None = None,
        max_time: float | None = 60.0,
        stages: Sequence[str] | None = None,
        X_units: Sequence[str] | None = None,  # noqa: N803
        y_unit: str | Sequence[str] | None = None,
        form: str | None = None,
        select: str | int = "evidence",
        digits: Digits | None = None,
        bootstrap: int = 0,
        contains: Sequence[str] = (),
        without: Sequence[str] = (),
        exponents: str = "any",
        functions: Sequence[str] | None = None,
        constants: Sequence[str] = (),
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.noise = noise
        self.max_time = max_time
        self.stages = stages
        self.X_units = X_units
        self.y_unit = y_unit
        self.form = form
        self.select = select
        self.digits = digits
        self.bootstrap = bootstrap
        self.contains = contains
        self.without = without
        self.exponents = exponents
        self.functions = functions
        self.constants = constants
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any,
        names: Sequence[str] | None = None,
        y_err: Any = None,
        groups: Any = None,
        x_err: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Search for the law of each column of y; ``names`` are used where the columns of X have none.

        ``y_err`` is the standard error of y on each row, ``x_err`` that of each cell or column of X beside it, and
        ``sample_weight`` one over its square where it is known up to a factor; rows of weight 0 are left out.
        ``groups`` is a label for each row: then one law is found, with shared numbers and own ones (``groups_``).
        """
        began = time.monotonic()
        end = began + seconds_of(self.max_time)
        check_frame(X)
        x, y = validate_data(
            self,
            X,
            numbers_in(y),
            dtype=(np.float64, np.float32),
            y_numeric=True,
            multi_output=True,
            ensure_min_samples=2,
        )
        self.columns_ = self._columns(names)
        self.names_ = clean_names(self.columns_ or [f"x{i}" for i in range(self.n_features_in_)])
        self.several_ = y.ndim == 2 and y.shape[1] > 1
        targets = y.reshape(len(y), -1).T
        units = units_of(self.y_unit, len(targets))
        seed = seed_of(self.random_state)
        named(self.constants)  # refuse what is unknown before the search
        check_selection(self.select)
        if self.several_ and y_err is not None:
            raise NALMError(f"y_err is that of one target, but y has {len(targets)}: fit them one by one.")
        if sample_weight is not None:
            rows = weighted_rows(sample_weight, len(x))
            x, targets, sample_weight = x[rows], targets[:, rows], np.asarray(sample_weight)[rows]
            groups = groups if groups is None or len(groups) != len(rows) else np.asarray(groups)[rows]
        errors = {"y_err": y_err, "x_err": x_err, "sample_weight": sample_weight}
        found: list[FittedLaw] = []
        for k, target in enumerate(targets):
            given = max((end - time.monotonic()) / (len(targets) - k), 1e-3)
            digits = digits_of(self.digits, x.shape[1], k)
            discovery = self._found(x, target, seed, given, (units[k], digits), errors, groups)
            found.append(FittedLaw.of(discovery, x.astype(np.float64), groups))
        self.found_ = tuple(found)
        self.seconds_ = time.monotonic() - began
        return self

    def _found(
        self,
        x: Any,
        y: Any,
        seed: int,
        seconds: float,
        about_y: tuple[str | None, Digits | None],
        errors: dict[str, Any],
        groups: Any,
    ) -> Discovery:
        """Search for the law of one output, or fit the given form to it."""
        (unit, digits), about = about_y, {"seed": seed, "bootstrap": self.bootstrap, **errors}
        if self.form is not None:
            if self.contains or self.without or self.exponents != "any" or self.functions is not None:
                raise NALMError(
                    "A form has its columns, exponents and functions already: leave conditions on them out."
                )
            form = with_constants(self.form, self.constants, self.names_)
            about |= {"noise": self.noise, "x_units": self.X_units, "y_unit": unit}
            if groups is not None:
                return search_form_groups(form, x, y, groups, self.names_, **about).selected(self.select)
            return search_form(form, x, y, self.names_, digits=digits, **about).selected(self.select)
        about |= {
            "max_time": None if self.max_time is None else seconds,
            "stages": self.stages,
            "x_units": self.X_units,
            "y_unit": unit,
            "contains": self.contains,
            "without": self.without,
            "exponents": self.exponents,
            "functions": self.functions,
            "watch": print_line if self.verbose else None,
        }
        if groups is not None:
            found = search_groups(x, y, groups, self.names_, noise=self.noise, **about)
        else:
            found = search(x, y, self.names_, noise=self.noise, digits=digits, n_jobs=self.n_jobs, **about)
        return found.selected(self.select)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
