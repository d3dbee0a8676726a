"""Training on batches of numbers: arithmetic, sequences, lists and rows of one's own.

``program.py`` is one compiled step of many runs, ``training.py`` repeats it and evaluates between blocks of steps.
"""

from nalm.engine.numbers.row_trainer import RowTrainer as RowTrainer
from nalm.engine.numbers.rows import OwnRows as OwnRows
from nalm.engine.numbers.training import NumberTrainer as NumberTrainer
