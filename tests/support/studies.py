"""Experiments run small, from the cases to the verdicts, for the slow tests of the studies."""

from nalm.claims import verdicts
from nalm.config.labels import labels
from nalm.experiments import EXPERIMENTS
from nalm.lab.run import run
from nalm.results.store import Store


class Small:
    """What came of some cases of an experiment with few seeds."""

    def __init__(self, folder, name, seeds=2, keep=lambda case: True):
        self.experiment = EXPERIMENTS[name]
        names = labels(self.experiment.cases)
        cases = tuple(case for case in self.experiment.cases if keep(case))
        run([self.experiment.replace(cases=cases, seeds=range(seeds))], folder, device="cpu", workers=1)
        with Store(folder) as store:
            wanted = {(case.hash, seed) for case in cases for seed in range(seeds)}
            self.outcomes = [o for o in store.outcomes() if (o.case.hash, o.seed) in wanted]
        assert len(self.outcomes) == len(wanted)
        self.named = [(names[o.case], o) for o in self.outcomes]

    def of(self, name, *ranges, **fields):
        """The runs of a label, on some training ranges and with some fields of the case."""
        return [
            o
            for label, o in self.named
            if label == name
            and (not ranges or str(o.case.train) in ranges)
            and all(getattr(o.case, field) == value for field, value in fields.items())
        ]

    def rate(self, name, *ranges, **fields):
        """The share of these that is solved."""
        runs = self.of(name, *ranges, **fields)
        assert runs, (name, ranges, sorted({label for label, _ in self.named}))
        return sum(o.solved for o in runs) / len(runs)

    def compared(self):
        """How many claims stand beside a number of ours."""
        return sum(v.ours is not None for v in verdicts(self.experiment, self.outcomes, {}))
