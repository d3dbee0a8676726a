"""A model as the engine sees it: layers one after another, and their starts, penalties and formulas together."""

import copy
import functools
from collections.abc import Sequence
from typing import Any, TypeGuard

import torch
from torch import Tensor, nn

from nalm import draws
from nalm.config import Layer
from nalm.errors import NALMError, unknown
from nalm.networks import NETWORKS
from nalm.networks.cells import CELLS
from nalm.units import UNITS, Trainable, Unit
from nalm.units.baselines import BASELINES
from nalm.units.own import OWN
from nalm.units.start import RandomSource, Start, Uniform

Tensors = dict[str, Tensor]
Between = Sequence[tuple[str, float, float]]
ACTIVATIONS: dict[str, type[nn.Module]] = {
    kind.__name__: kind for kind in (nn.ReLU, nn.Tanh, nn.Sigmoid, nn.Softplus)
}  # of torch, between layers
NESTED = 1024  # streams of noise between those of a layer and of a unit inside it


class Network(nn.Module):
    """Layers one after another; a single unit is a network of one.

    In a recurrent one the first layer is a cell: x holds the parts of a sequence one after another, and the cell sees
    each in turn with its own last output behind it, which starts at 0.
    """

    def __init__(self, layers: Sequence[Layer], inputs: int, recurrent: bool = False):
        super().__init__()
        self.layers = nn.ModuleList()
        self.inputs, self.recurrent = inputs, recurrent
        width = inputs + (layers[0].out if recurrent else 0)
        for layer in layers:
            self.layers.append(_build(layer, width))
            width = layer.out

    def parts(self) -> list[Trainable]:
        """Return the layers that have weights, which activations have not."""
        return [part for _, part in self.placed()]

    def placed(self) -> list[tuple[int, Trainable]]:
        """Return the same with their places among all layers."""
        return [(i, part) for i, part in enumerate(self.layers) if isinstance(part, Trainable)]

    def forward(self, x: Tensor) -> Tensor:
        """Return the prediction."""
        for layer in self.layers:
            x = self._through(layer, x)
        return x

    def _through(self, layer: nn.Module, x: Tensor) -> Tensor:
        """Return a layer's output; that of a cell after the whole sequence."""
        if not (self.recurrent and layer is self.layers[0] and isinstance(layer, Trainable)):
            y: Tensor = layer(x)
            return y
        state = x.new_zeros(*x.shape[:-1], layer.out_features)
        for part in x.split(self.inputs, -1):
            state = layer(torch.cat([part, state], -1))
        return state

    def penalised(self, x: Tensor, names: Sequence[str]) -> tuple[Tensor, Tensors]:
        """Return the prediction, and each named penalty summed over the layers that have it."""
        terms: Tensors = {}
        for layer in self.layers:
            own = layer.penalties(x if "inputs" in names else None) if _penalised(layer, names) else {}
            for name, value in own.items():
                if name in names:
                    terms[name] = terms[name] + value if name in terms else value
            x = self._through(layer, x)
        return x, terms

    def penalty_names(self) -> set[str]:
        """Return the names of all penalties of the layers, those that depend on inputs among them."""
        return {name for part in self.parts() for name in part.penalties(torch.ones(2, part.in_features))}

    def project(self) -> None:
        """Move the weights of every layer back into their bounds."""
        for layer in self.parts():
            layer.project()

    def sparsity_error(self) -> Tensor:
        """Return the largest of the layers' sparsity errors, one value per run."""
        return functools.reduce(torch.maximum, [layer.sparsity_error() for layer in self.parts()])

    def meaning(self) -> Tensors:
        """Return the effective weights of all layers by name."""
        return {f"{i}.{n}": w for i, layer in self.placed() for n, w in layer.weights().items()}

    def starts(
        self,
        seeds: Sequence[int],
        resets: Tensor,
        grid: int = 0,
        between: Between = (),
        normals: Sequence[Between] = (),
        source: RandomSource | None = None,
    ) -> Tensors:
        """Return initial parameters of many runs, (runs, ...): each a function of its seed and number of resets.

        With a grid they are the points between 0 and 1 whose places are the digits of the seed. Parameters that are
        named, as 1.gate, are drawn uniformly between two numbers instead, or from a normal distribution; ``normals``
        has the names, means and deviations of each run, the same names for all of them. A ``source`` draws the same
        for all runs.
        """
        ends = {name: (low, high) for name, low, high in between}
        around = {rows[0][0]: [row[1:] for row in rows] for rows in zip(*normals, strict=True)}
        values: Tensors = {}
        for i, layer in self.placed():
            drawn = source or draws.Drawn(seeds, i, resets)
            for prefix, part in _inside(layer):
                for name, first in part.start().items():
                    if (full := f"{i}.{prefix}{name}") in ends:
                        first = Uniform(first.shape, *ends.pop(full))
                    if full in around:
                        value = _normals(first.shape, around.pop(full), drawn)
                    else:
                        value = _sampled(first, drawn, len(seeds))
                    values[f"layers.{full}"] = value
        for name in (*ends, *around):
            raise unknown("parameter to start", name, [n.removeprefix("layers.") for n in values])
        return _on_grid(values, seeds, grid) if grid else values

    def noise_keys(self, seeds: Sequence[int]) -> Tensors:
        """Return the keys of the layers' noise, by buffer name."""
        return {
            f"layers.{i}.{prefix}noise.key": draws.keys(seeds, "noise", i + NESTED * k)
            for i, layer in self.placed()
            for k, (prefix, part) in enumerate(_inside(layer))
            if part.noisy
        }


def _inside(layer: Trainable) -> list[tuple[str, Trainable]]:
    """Return a layer and the units inside it, each with the prefix of its parameters' names."""
    found = [(name, part) for name, part in layer.named_modules() if isinstance(part, Trainable)]
    return [(f"{name}." if name else "", part) for name, part in found]


def _sampled(first: Start, source: RandomSource, runs: int) -> Tensor:
    return first.sample(source).expand(runs, *first.shape).float().contiguous()


def _normals(shape: tuple[int, ...], rows: Sequence[tuple[float, float]], source: RandomSource) -> Tensor:
    """Draw a parameter of each run from a normal distribution with its own mean and deviation."""
    mean, deviation = torch.tensor(rows, dtype=torch.float64).reshape(-1, 2, *[1] * len(shape)).unbind(1)
    return (mean + deviation * source.normal(shape)).float().contiguous()


def _on_grid(values: Tensors, seeds: Sequence[int], points: int) -> Tensors:
    """Place parameters on a grid: the digits of a seed, the lowest first, are the places of their numbers."""
    found, left = {}, torch.tensor(seeds)
    for name, value in values.items():
        places = torch.empty(len(seeds), value[0].numel())
        for k in range(places.shape[1]):
            places[:, k], left = left % points, left // points
        found[name] = (places / (points - 1)).reshape(value.shape)
    if left.any():
        raise NALMError(f"A grid of {points} points a side has no place for seed {max(seeds)}.")
    return found


def _penalised(layer: nn.Module, names: Sequence[str]) -> TypeGuard[Trainable]:
    """Return whether penalties of a layer may be asked for."""
    return bool(names) and isinstance(layer, Trainable)


def layer_types() -> dict[str, type[Trainable]]:
    """Return everything that a layer can be, by name: units, baselines, cells, networks, and a user's units."""
    return {**UNITS, **BASELINES, **CELLS, **NETWORKS, **OWN}


def _build(layer: Layer, width: int) -> nn.Module:
    if layer.unit in ACTIVATIONS:
        if layer.out != width:
            raise NALMError(
                f"{layer.unit} after {width} numbers gives {width}: write Layer({layer.unit!r}, {width})."
            )
        return ACTIVATIONS[layer.unit]()
    known = layer_types()
    if layer.unit not in known:
        raise unknown("unit", layer.unit, known)
    options: dict[str, Any] = dict(layer.options)
    for name in options:
        if name not in known[layer.unit].options:
            raise unknown(f"option of {layer.unit}", name, known[layer.unit].options)
    # The weights are replaced by draws of the runs: torch's global generator stays where it is.
    return known[layer.unit](width, layer.out, generator=torch.Generator(), **options)


def exact(network: Network) -> Network:
    """Put the units of a network into their exact form, in place, and return the network."""
    for layer in network.parts():
        if isinstance(layer, Unit):
            layer.exact_()
    return network


@torch.no_grad()
def snapped(network: Network, params: Tensors) -> Tensors:
    """Return the parameters (runs, ...) of a network of units, with all weights moved onto their grids."""
    one, rows = copy.deepcopy(network), []
    for run in range(len(next(iter(params.values())))):
        for name, p in params.items():
            one.get_parameter(name).copy_(p[run])
        for layer in one.parts():
            if isinstance(layer, Unit):
                layer.snap_()
        rows.append({name: one.get_parameter(name).detach().clone() for name in params})
    return {name: torch.stack([row[name] for row in rows]).to(p.device) for name, p in params.items()}
