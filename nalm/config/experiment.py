"""A paper's set of cases and what was published of them, as values."""

from dataclasses import dataclass

from nalm.config.case import Case
from nalm.config.values import Value, require

DIGITISED = ", vector-digitised"  # ends the place of a number that was read from the lines of a figure


@dataclass(frozen=True)
class Claim(Value):
    """A published number, with where it stands and what it is about.

    ``unit``, ``operation`` and ``where`` (a training range or a setting) are the library's names for it.
    ``cases`` are the hashes of the cases it is about; without them it is about those of that unit and range.
    ``rows`` are the rows of the files of published numbers that hold it, such as heim2020:17; several may repeat it.
    ``points`` are rows whose numbers it sums up, as their median for example.
    """

    source: str
    metric: str
    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    note: str = ""
    place: str = ""  # the table, figure or section
    task: str = ""
    unit: str = ""
    operation: str = ""
    where: str = ""
    cases: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    points: tuple[str, ...] = ()

    @property
    def cited(self) -> str:
        """The paper and the place in it.

        >>> Claim("Madsen 2020 (stable-nalu:a.pdf)", "success_rate", 1, place="figure, vector-digitised").cited
        'Madsen 2020, figure'
        """
        return f"{self.source.partition(' (')[0]}, {self.place.removesuffix(DIGITISED)}"

    @property
    def how(self) -> str:
        """How the number was read: digitised from a figure, from a file of the authors, from the text, or printed.

        >>> Claim("Madsen 2020 (stable-nalu:a.pdf)", "success_rate", 1, place="figure, vector-digitised").how
        'digitised, stable-nalu:a.pdf'
        """
        _, _, file = self.source.removesuffix(")").partition(" (")
        if self.place.endswith(DIGITISED):
            return f"digitised, {file}" if file else "digitised"
        if file:
            return f"file {file}"
        in_text = self.note.startswith("prose") or self.place.startswith(("Sec", "Abstract"))
        return "text" if in_text else "printed"


@dataclass(frozen=True)
class Experiment(Value):
    """A paper's set of cases, with the seeds they were run with and what was published of them."""

    name: str
    title: str
    cases: tuple[Case, ...]
    seeds: tuple[int, ...]
    claims: tuple[Claim, ...] = ()

    def check(self) -> None:
        require(len(set(self.cases)) == len(self.cases), f"A case stands twice in {self.name!r}.")
        require(len(set(self.seeds)) == len(self.seeds), f"A seed stands twice in {self.name!r}.")
