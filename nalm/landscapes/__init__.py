"""Analytic figures of the literature, computed by the library's own units. ADD HERE.

To add one: write a function without arguments that returns a ``Surface`` or ``Curves``, then name it in
``LANDSCAPES``. May import units, tasks and config.
"""

import functools
from collections.abc import Callable

import torch

from nalm.errors import unknown
from nalm.landscapes import errors as samples
from nalm.landscapes import gold, gradients, shapes
from nalm.landscapes.surface import Curves as Curves
from nalm.landscapes.surface import Minimum as Minimum
from nalm.landscapes.surface import Surface as Surface

LANDSCAPES: dict[str, Callable[[], Surface | Curves]] = {
    "landscapes/nmu": samples.nmu,
    "landscapes/nac-nacmul": samples.nac_nacmul,
    "landscapes/nac-nacmul-eps-0.1": functools.partial(samples.nac_nacmul, 0.1),
    "landscapes/nac-nacmul-eps-1": functools.partial(samples.nac_nacmul, 1.0),
    "landscapes/nac-nacmul-draft": samples.nac_nacmul_draft,
    "landscapes/nac-nmu": samples.nac_nmu,
    "landscapes/nau-nmu": samples.nau_nmu,
    "landscapes/nau-realnpu": samples.nau_realnpu,
    "landscapes/nau-nru": samples.nau_nru,
    "landscapes/nau-nmru": samples.nau_nmru,
    "landscapes/gradient-naivenpu": gradients.naive_npu,
    "landscapes/gradient-npu": gradients.npu,
    "landscapes/gradient-npu-gated": gradients.npu_gated,
    "landscapes/regularisers": shapes.regularisers,
    "landscapes/regulariser-inalu": shapes.regulariser_inalu,
    "landscapes/ramp": shapes.ramp,
    "landscapes/batch-noise": shapes.batch_noise,
    "landscapes/nac-weight": shapes.nac_weight,
    "landscapes/gnalu-weight": shapes.gnalu_weight,
    "landscapes/gold-one": gold.one,
    "landscapes/gold-selected": gold.selected,
    "landscapes/gold-quotient": gold.quotient,
}


def compute(name: str) -> Surface | Curves:
    """Compute the landscape of a name; an unknown name is an error that suggests one.

    >>> [(round(m.x, 4), round(m.y, 4), m.kind) for m in compute("landscapes/nmu").minima]
    [(1.0, 1.0, 'solution'), (-0.1667, -0.5, 'alternative'), (0.0, 0.0, 'clipped')]
    """
    if name not in LANDSCAPES:
        raise unknown("landscape", name, LANDSCAPES)
    with torch.random.fork_rng(devices=[]):  # initial weights of units, all of which are replaced
        return LANDSCAPES[name]()
