"""Tensors of runs whose readers have the same shape, stacked along a first axis of runs."""

import contextlib
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from nalm.engine.compiler import Methods
from nalm.engine.images.data import shuffled
from nalm.engine.images.program import LAYERS, ImageProgram, Member, evaluated

Tensors = dict[str, Tensor]
# images of all runs that are read at a time, at most: on a CPU 32,768 would take 7.5 GB and be no faster
READ = {"cpu": 512, "cuda": 32_768}
# samples of all runs whose results are evaluated at a time, at most, when their images have been read
JUDGED = {"cpu": 1_024, "cuda": 65_536}
READER = "reader."


class SameLayers:
    """Neighbouring members of one case: the layers behind their readers, with an axis of runs."""

    def __init__(self, name: str, members: Sequence[Member], part: slice):
        self.name, self.part, self.program = name, part, members[part.start].program
        self.recipe = self.program.case.recipe
        self.prefix = f"{name}.{LAYERS}"
        self.learn = Methods(self.program.network.get_submodule("arithmetic"), "penalised", "project")
        self.judge = Methods(self.program.judge.get_submodule("arithmetic"), "forward")

    def own(self, tensors: Tensors) -> Tensors:
        """Return the tensors of these layers by their names inside them."""
        return {n.removeprefix(self.prefix): t for n, t in tensors.items() if n.startswith(self.prefix)}


class Stacked:
    """Members at the same step, in the order of their programs; their own tensors become views of the stacks."""

    def __init__(self, members: Sequence[Member]):
        programs = list(dict.fromkeys(m.program for m in members))
        self.members = sorted(members, key=lambda m: programs.index(m.program))
        self.device = programs[0].device
        if self.device.type == "cuda":
            torch.cuda.synchronize()  # members that were restored did it on streams of their own
        self.kinds = [self._kind(i, program) for i, program in enumerate(programs)]
        self.params: Tensors = {}
        self.parts: dict[str, slice] = {}  # the runs of each parameter
        self.slots: dict[str, list[Tensor]] = {}
        self.noise: Tensors = {}
        self._adopt()
        self.at = self.members[0].at
        self.shared = self.members[0].shared
        self.epoch = -1  # whose order is in the tables
        self.tables = {name: self.members[0].tables[name] for name in ("grid", "lr")}
        self.tables |= {f"clip.{norm}": largest for norm, largest in self._limits().items()}
        self.tables["rows"] = self._stacked([m.tables for m in self.members], "rows")
        self.train = pad_sequence([m.train for m in self.members], batch_first=True)
        self.sets = {name: self._set(name) for name in self.members[0].sets}
        self.pictures = self._pictures()
        self.stream = torch.cuda.Stream() if self.device.type == "cuda" else None
        for m in self.members:
            m.at, m.stream = self.at, self.stream
        if self.stream is not None:
            torch.cuda.synchronize()

    def _kind(self, number: int, program: ImageProgram) -> SameLayers:
        places = [i for i, m in enumerate(self.members) if m.program is program]
        return SameLayers(str(number), self.members, slice(places[0], places[-1] + 1))

    @staticmethod
    def _stacked(homes: Sequence[Tensors], name: str) -> Tensor:
        """Stack tensors of one name, and leave views of the stack in their places."""
        every = torch.stack([home[name] for home in homes])
        for i, home in enumerate(homes):
            home[name] = every[i]
        return every

    def _adopt(self) -> None:
        """Stack parameters, states of the optimiser and keys: of readers over all members, of layers over a kind."""
        groups = [("", READER, slice(0, len(self.members)))]
        groups += [(f"{k.name}.", LAYERS, k.part) for k in self.kinds]
        for prefix, beginning, part in groups:
            members = self.members[part]
            for name in [n for n in members[0].params if n.startswith(beginning)]:
                self.params[prefix + name] = self._stacked([m.params for m in members], name)
                self.parts[prefix + name] = part
                count = len(members[0].slots[name])
                slots = [torch.stack([m.slots[name][i] for m in members]) for i in range(count)]
                self.slots[prefix + name] = slots
                for k, m in enumerate(members):
                    m.slots[name] = [slot[k] for slot in slots]
            for name in [n for n in members[0].noise if n.startswith(beginning)]:
                self.noise[prefix + name] = self._stacked([m.noise for m in members], name)

    @contextlib.contextmanager
    def here(self) -> Iterator[None]:
        """Run the block on the stream of the batch."""
        with self.members[0].here():
            yield

    def _limits(self) -> Tensors:
        """Return the largest gradient of each run, by the norm that measures it: infinity where it is not clipped."""
        limits: Tensors = {}
        for kind in self.kinds:
            if kind.recipe.clip_norm > 0:
                norm = kind.recipe.norm
                endless = torch.full((len(self.members),), torch.inf, device=self.device)
                limits.setdefault(norm, endless)[kind.part] = kind.recipe.clip_norm
        return limits

    def shuffle(self, epoch: int) -> None:
        """Put the samples of an epoch in their order, for all members at once."""
        self.epoch = epoch
        with self.here():
            rows, counts = self.tables["rows"], [len(m.train) for m in self.members]
            order = shuffled(counts, rows.shape[1], [m.seed for m in self.members], epoch, self.device)
            rows.copy_(self.train[torch.arange(len(order), device=self.device).unsqueeze(-1), order])

    def fetch(self) -> dict[Member, Tensors]:
        """Return what each member fetches, copied to the host for all members at once."""
        found: dict[Member, Tensors] = {}
        with self.here():
            results = evaluated(self.sets)
            for kind in self.kinds:
                layers = {LAYERS + n: p.cpu() for n, p in kind.own(self.params).items()}
                for i, m in enumerate(self.members[kind.part]):
                    own = {n: t[kind.part.start + i] for n, t in results.items()}
                    found[m] = own | {n: p[i] for n, p in layers.items()}
        return found

    def _chunks(self, most: int, limits: dict[str, int]) -> tuple[int, int]:
        """Return how many entries of each member are taken at a time, and the length of whole chunks of them."""
        chunk = min(most, max(1, limits[self.device.type] // len(self.members)))
        return chunk, -(-most // chunk) * chunk

    def _set(self, name: str) -> Tensors:
        """Return a set of every member, padded to whole chunks, with zeros for their sums."""
        most = max(m.sizes[name] for m in self.members)
        chunk, length = self._chunks(most, JUDGED)
        rows = [m.sets[name]["rows"][: m.sizes[name]] for m in self.members]
        padded = [torch.cat([r, r.new_zeros(length - len(r), *r.shape[1:])]) for r in rows]
        sizes = torch.tensor([m.sizes[name] for m in self.members], device=self.device)
        homes = [m.sets[name] for m in self.members]
        for home, r in zip(homes, padded, strict=True):
            home["rows"] = r
        stacked = {part: self._stacked(homes, part) for part in ("rows", "sums", "counts")}
        place = torch.arange(length, device=self.device)
        return stacked | {
            "kept": place < sizes.unsqueeze(-1),
            "grid": place[:chunk].clone(),
            "offset": torch.zeros((), dtype=torch.int64, device=self.device),
        }

    def _pictures(self) -> Tensors:
        """Return the images of all sets of every member, each once, with room for the digits that are read from them.

        The sets get the places of their images in this list.
        """
        every = [
            torch.cat([s["rows"][i].flatten() for s in self.sets.values()]).unique()
            for i in range(len(self.members))
        ]
        chunk, length = self._chunks(max(len(own) for own in every), READ)
        rows = torch.stack([torch.cat([own, own[-1:].expand(length - len(own))]) for own in every])
        for s in self.sets.values():
            s["places"] = torch.searchsorted(rows, s["rows"].flatten(1)).view_as(s["rows"])
        return {
            "rows": rows,
            "read": torch.zeros(rows.shape, device=self.device),
            "grid": torch.arange(chunk, device=self.device),
            "offset": torch.zeros((), dtype=torch.int64, device=self.device),
        }
