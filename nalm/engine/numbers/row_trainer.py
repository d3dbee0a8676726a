"""The trainer of rows of one's own: that of numbers, with other rows for each block of steps where there are some."""

from nalm.config import Case, Rows
from nalm.engine.numbers.evaluation import EVERY
from nalm.engine.numbers.rows import RowData, rows_of
from nalm.engine.numbers.training import NumberTrainer


class RowTrainer(NumberTrainer):
    """Trains one population on rows that are in memory."""

    @staticmethod
    def check(case: Case) -> None:
        """Refuse a case whose rows are not in memory."""
        assert isinstance(case.task, Rows)
        rows_of(case.task)

    def advance(self) -> None:
        """Take other rows where there are some; then evaluate, and train to the next evaluation."""
        data = self.program.data
        assert isinstance(data, RowData)
        if self.at:
            data.refill(self.at // EVERY)
        super().advance()
