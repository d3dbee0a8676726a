"""The studies of chapters 1 and 4 and of Madsen & Johansen are the published ones: settings, sizes, programs."""

import math

import pytest

from nalm.config.labels import unit_of
from nalm.engine import populations, product
from nalm.engine.model import Network
from nalm.experiments import EXPERIMENTS, experiments
from nalm.experiments import madsen2020 as madsen
from nalm.experiments.thesis.ch3 import RANGES


def programs(name, **fields):
    """Populations of an experiment's cases, those with these recipe fields."""
    e = EXPERIMENTS[name]
    cases = [c for c in e.cases if all(getattr(c.recipe, n) == v for n, v in fields.items())]
    return populations(product(cases, e.seeds), 2**27)


def test_the_perceptrons_have_the_published_sizes_and_lengths():
    cases = EXPERIMENTS["thesis/ch1/mlp"].cases
    sizes = {
        (sum(p.numel() for p in Network(c.model, 2).parameters()), c.recipe.steps) for c in cases
    }  # Table 1: 5, 401 and 2 parameters; width 4 has no bias
    assert sizes == {(5, 50_000), (12, 50_000), (401, 2_000_000), (2, 50_000)}
    assert {c.threshold.kind for c in cases} == {"fixed"} and {c.threshold.value for c in cases} == {1e-5}
    assert sum(c.recipe.steps for c in cases) * 25 == (4 + 2 + 2) * 25 * 50_000 + 4 * 25 * 2_000_000


def test_the_single_unit_is_tried_with_every_noise_on_the_nine_ranges():
    e = EXPERIMENTS["thesis/ch4/single"]
    assert len(e.cases) == 12 * 9 and e.seeds == tuple(range(25))
    assert {(c.train, c.test) for c in e.cases} == set(RANGES)
    stg = [dict(c.recipe.penalties) for c in e.cases if unit_of(c) == "StgNMU"]
    assert sorted({p["l0"].at(0) for p in stg}) == [0.001, 0.01, 0.1, 1, 10] and {len(p) for p in stg} == {1}
    assert {c.recipe.gradient_noise for c in e.cases} == {0, 0.01, 0.1, 1, 10}
    assert [len(runs) for runs in programs("thesis/ch4/single")] == [225, 225, 225, 5 * 225, 4 * 225]


def test_the_start_grid_has_a_run_for_every_start():
    e = EXPERIMENTS["thesis/ch4/start-grid"]
    assert [unit_of(c) for c in e.cases] == ["NMU", "SNMU"] and len(e.seeds) == 441
    starts = Network(e.cases[0].model, 2).starts(e.seeds, None, 21)["layers.0.weight"].squeeze(1)
    assert starts[22].tolist() == pytest.approx([0.05, 0.05]) and starts[20].tolist() == [1.0, 0.0]
    assert len({tuple(point) for point in starts.tolist()}) == 441
    assert {(c.recipe.optimiser, c.recipe.lr, c.recipe.penalties) for c in e.cases} == {("sgd", 1e-3, ())}


def test_a_two_layer_model_trains_all_ranges_and_seeds_in_one_program():
    sizes = [len(runs) for runs in programs("thesis/ch4/arithmetic")]
    assert sizes == [180] * 5
    assert [len(runs) for runs in programs("thesis/ch4/noise-ranges")] == [180] * 7
    steps = {unit_of(c): c.recipe.steps for c in EXPERIMENTS["thesis/ch4/arithmetic"].cases}
    assert steps == {"NAU-NMU": 5_000_000, "NAU-SNMU": 2_000_000, "NAU-StgNMU": 5_000_000}
    for e in experiments("thesis/ch4/arithmetic") + experiments("thesis/ch4/noise-ranges"):
        assert e.seeds == tuple(range(20)) and len(e.claims) >= 4
        for c in e.cases:
            assert (c.inputs, c.task.subset, c.task.overlap, c.task.used) == (100, 25, 12, 38)
            ramp = dict(c.recipe.penalties)["weight"]
            assert (ramp.weight, ramp.start, ramp.end) == (10, 1e6, 2e6)


def test_noise_ranges_share_their_cases_with_the_main_comparison():
    main, noise = (set(EXPERIMENTS[f"thesis/ch4/{n}"].cases) for n in ("arithmetic", "noise-ranges"))
    assert len(main & noise) == 18 and len(noise) == 63


def test_the_default_task_has_eleven_models_and_six_operations_in_eleven_programs():
    e = EXPERIMENTS["madsen/default"]
    assert len(e.cases) == 66 and {c.recipe.steps for c in e.cases} == {5_000_000}
    assert [len(runs) for runs in programs("madsen/default")] == [60] * 11
    assert sum(c.metric == "success_rate" for c in e.claims) >= 66


def test_the_simple_task_is_two_fixed_sums_of_four_inputs():
    (case, *_) = EXPERIMENTS["madsen/simple"].cases
    assert case.task.operands == ((0, 4), (0, 2)) and case.recipe.steps == 200_000 and case.inputs == 4


def test_sweeps_vary_one_thing_and_every_published_number_has_its_case():
    counts = {e.name.removeprefix("madsen/"): (len(e.cases), len(e.claims)) for e in experiments("madsen")}
    assert counts == {
        "default": (66, 398),
        "simple": (3, 16),
        "hidden-size": (45, 79),
        "input-size": (84, 218),
        "overlap": (36, 90),
        "subset": (24, 58),
        "subsets": (40, 0),
        "range": (35, 88),
        "regularisation": (18, 52),
        "gating": (6, 24),
        "ablation": (36, 16),
        "learning": (180, 120),
    }
    assert {c.model[0].out for c in madsen.HIDDEN.values()} == set(range(2, 11))
    steps = {c.inputs: c.recipe.steps for c in madsen.INPUTS.values()}
    assert steps[100] == 5_000_000 and steps[125] == 10_000_000 and steps[300] == 15_000_000
    assert {(c.task.subset, c.task.overlap) for c in madsen.OVERLAP.values()} == {
        *((25, math.floor(25 * r)) for r in (0, 0.1, 0.25, 0.5, 0.75, 1))
    }
    assert {(c.task.subset, c.task.overlap) for c in madsen.SUBSET.values()} == {
        (5, 2),
        (10, 5),
        (25, 12),
        (50, 25),
    }


def test_sizes_of_sums_are_numbers_and_share_a_program():
    assert [len(runs) for runs in programs("madsen/overlap")] == [30] * 6
    assert [len(runs) for runs in programs("madsen/subset")] == [20] * 6


def test_the_ablation_leaves_weights_free_or_without_pressure():
    full, unpressed, free, neither = (madsen.ABLATION[name, "multiply", "ablation"] for name in madsen.PARTS)
    assert full == madsen.HIDDEN["NMU", "multiply", "hidden size=2"] and not unpressed.recipe.penalties
    assert {dict(layer.options)["bounds"] for c in (free, neither) for layer in c.model} == {"penalty"}
    assert free.recipe.penalties and not neither.recipe.penalties
