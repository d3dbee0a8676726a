"""Training on batches of numbers: arithmetic, sequences and lists.

``program.py`` is one compiled step of many runs, ``training.py`` repeats it and evaluates between blocks of steps.
"""

from nalm.engine.numbers.training import NumberTrainer as NumberTrainer
