"""Tensors of runs whose readers have the same shape, stacked along a first axis of runs."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nalm.engine.compiler import Methods
from nalm.engine.images.program import ImageProgram, Member

Tensors = dict[str, Tensor]
# images of all runs that are read at a time, at most: on a CPU 32,768 would take 7.5 GB and be no faster
READ = {"cpu": 512, "cuda": 32_768}
# samples of all runs whose results are evaluated at a time, at most, when their images have been read
JUDGED = {"cpu": 1_024, "cuda": 65_536}
READER, LAYERS = "reader.", "arithmetic."


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
        self.slots: dict[str, list[Tensor]] = {}
        self.noise: Tensors = {}
        self._adopt()
        self.at = self.members[0].at
        self.shared = self.members[0].shared
        self.tables = {name: self.members[0].tables[name] for name in ("grid", "lr")}
        self.tables["rows"] = self._stacked([m.tables for m in self.members], "rows")
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
        groups = [("", READER, self.members)]
        groups += [(f"{k.name}.", LAYERS, self.members[k.part]) for k in self.kinds]
        for prefix, beginning, members in groups:
            for name in [n for n in members[0].params if n.startswith(beginning)]:
                self.params[prefix + name] = self._stacked([m.params for m in members], name)
                count = len(members[0].slots[name])
                slots = [torch.stack([m.slots[name][i] for m in members]) for i in range(count)]
                self.slots[prefix + name] = slots
                for k, m in enumerate(members):
                    m.slots[name] = [slot[k] for slot in slots]
            for name in [n for n in members[0].noise if n.startswith(beginning)]:
                self.noise[prefix + name] = self._stacked([m.noise for m in members], name)

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
