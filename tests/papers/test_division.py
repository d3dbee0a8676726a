"""The studies of chapters 5 and 6, of the iNALU paper and of Trask are the published ones: settings, sizes, data."""

import pytest
import torch

from nalm import draws
from nalm.config.labels import unit_of
from nalm.engine import populations, product
from nalm.engine.numbers.thresholds import uncompiled
from nalm.experiments import EXPERIMENTS, experiments
from nalm.experiments.names import names as names_of
from nalm.experiments.published import claims
from nalm.experiments.thesis import ch5
from nalm.experiments.thesis.ch3 import RANGES
from nalm.tasks.operands import subsets
from nalm.tasks.sampler import Sampler
from nalm.units import NAU, NMU

SIZES = {  # cases of nine ranges, where not said otherwise
    "thesis/ch5/main": 8 * 9,
    "thesis/ch5/l1": 2 * 9,
    "thesis/ch5/beta": 7 * 9,
    "thesis/ch5/clipping": 4 * 9,
    "thesis/ch5/discretisation": 3 * 9,
    "thesis/ch5/start": 2 * 9,
    "thesis/ch5/l2": 3 * 9,
    "thesis/ch5/realnpu-lr": 4 * 9,
    "thesis/ch5/nru-lr": 4 * 9,
    "thesis/ch5/nru-tanh": 4 * 9,
    "thesis/ch5/complex": 3 * 9,
    "thesis/ch5/ternary": 2 * 9,
    "thesis/ch5/nmru-ablation": 5 * 9,
    "thesis/ch5/nmru-lr": 3 * 9,
    "thesis/ch5/nmru-optimiser": 2 * 9,
    "thesis/ch5/nmru-safe-clip": 32,
    "thesis/ch5/nru-sign": 2 * 9,
    "thesis/ch5/mixed": 2 * 3 * 5,  # sets
    "thesis/ch5/mixed-corrected": 3 * 4,
    "thesis/ch5/distributions": 2 * 3 * 6,
    "thesis/ch5/small": 3 * 3 * 5,
    "thesis/ch6/scaling": 8 * 9,
    "thesis/ch6/feyn": 2,
    "thesis/ch6/losses/division": 3 * 4 * 9,
    "thesis/ch6/losses/arithmetic": 2 * 4 * 9,
    "schloer/minimal": 2 * 4 * 18,
    "schloer/magnitude": 2 * 4 * 5,
    "schloer/simple": 2 * 4 * 18,
    "schloer/code/minimal": 2 * 4 * 18,
    "schloer/code/simple": 2 * 4 * 18,
    "schloer/code/function": 2 * 4 * 2,
    "schloer/code/start": 27 * 2 * 4,
    "trask/recurrent": 9,
}


def test_every_study_is_there_in_its_size():
    found = [e for prefix in ("thesis/ch5", "thesis/ch6", "schloer", "trask") for e in experiments(prefix)]
    assert {e.name: len(e.cases) for e in found} == SIZES
    assert {len(e.seeds) for e in experiments("thesis/ch5")} == {25}
    assert {len(e.seeds) for e in experiments("schloer")} == {10}


def test_labels_tell_all_cases_of_a_study_apart():
    for name in SIZES:
        e = EXPERIMENTS[name]
        names = names_of(name, e.cases).labels
        assert len({(names[c], c.operation, c.inputs, c.train) for c in e.cases}) == len(e.cases), name


@pytest.mark.parametrize(
    ("inputs", "unit", "lr", "weight", "ramp", "clip"),
    [
        (2, "RealNPU", 5e-3, None, None, 0),
        (2, "ModifiedRealNPU", 5e-3, 1, (40_000, 50_000), 0),
        (2, "NRU", 1, 10, (20_000, 35_000), 0),
        (2, "NMRU", 1e-2, 10, (20_000, 35_000), 1),
        (10, "RealNPU", 5e-3, None, None, 0),
        (10, "ModifiedRealNPU", 5e-3, 1, (50_000, 75_000), 0),
        (10, "NRU", 1e-3, 10, (50_000, 75_000), 0),
        (10, "NMRU", 1e-2, 10, (50_000, 75_000), 1),
    ],
)
def test_the_main_comparison_has_the_published_settings(inputs, unit, lr, weight, ramp, clip):
    cases = [c for c in EXPERIMENTS["thesis/ch5/main"].cases if (unit_of(c), c.inputs) == (unit, inputs)]
    assert [(c.train, c.test) for c in cases] == list(RANGES)
    (recipe,) = {c.recipe for c in cases}
    assert (recipe.lr, recipe.clip_norm, recipe.loss) == (lr, clip, "mse")
    assert recipe.steps == (50_000 if inputs == 2 else 100_000) and recipe.optimiser == "adam"
    assert {(r.weight, (r.start, r.end)) for _, r in recipe.penalties} == (
        {(weight, ramp)} if weight else set()
    )
    assert (recipe.l1 is not None) == ("NPU" in unit)
    assert recipe.l1 is None or (recipe.l1.start, recipe.l1.end) == (1e-9, 1e-7)
    assert {(c.threshold.kind, c.threshold.value) for c in cases} == {("fixed", 1e-5)}


def test_sweeps_share_a_program_and_all_of_chapter_5_is_some_sixty():
    def programs(name):
        cases = [c for e in experiments(name) for c in e.cases]
        return populations(product(list(dict.fromkeys(cases)), range(25)), 2**27)

    assert [len(p) for p in programs("thesis/ch5/beta")] == [7 * 225]
    assert [len(p) for p in programs("thesis/ch5/nru-lr")] == [4 * 225]
    assert [len(p) for p in programs("thesis/ch5/nmru-lr")] == [3 * 225]
    assert len(programs("thesis/ch5")) <= 62


def signs(case, seed):
    """Signs of the operands' means over a training batch."""
    parts = [s.start for s in subsets(case, seed)]
    sampler = Sampler([case.train], case.inputs, parts=[subsets(case, seed)[0].stop])
    x = sampler(draws.keys([seed], "train"), torch.zeros((), dtype=torch.int32), sampler.grid(50))[0]
    return x[parts].mean(-1).sign().tolist()


def test_mixed_signs_are_mixed_in_two_seeds_as_published_and_in_all_once_mended():
    published = [
        c for c in EXPERIMENTS["thesis/ch5/mixed"].cases if c.inputs == 10 and c.train.kind == "split"
    ]
    for case in published[:4]:
        assert [s for s in range(25) if sum(signs(case, s)) == 0] == [7, 10]
    for case in EXPERIMENTS["thesis/ch5/mixed-corrected"].cases[:4]:
        first = -1.0 if case.train.low < 0 else 1.0
        assert all(signs(case, seed) == [first, -first] for seed in range(25))


def test_thresholds_of_small_divisors_are_the_published_ones():
    cases = {
        (unit_of(c), c.operation, c.inputs, str(c.train)): c for c in EXPERIMENTS["thesis/ch5/small"].cases
    }
    found = [c for c in EXPERIMENTS["thesis/ch5/small"].claims if c.metric == "success_threshold_mse"]
    assert len(found) == len(cases) == 45
    for claim in found:
        inputs = int(claim.task.split()[-2])
        ours = uncompiled(cases[claim.unit, claim.operation, inputs, claim.where])
        if claim.unit == "NMRU":  # the published product rounds (w x + 1) - w, which is coarse for a small x
            assert ours <= 1.01 * claim.value
        else:
            assert ours == pytest.approx(claim.value, rel=0.1)


def test_the_small_tasks_need_nothing_but_the_unit():
    for case in EXPERIMENTS["thesis/ch5/small"].cases:
        assert case.train == case.test and case.task.data == "authors"
        assert case.recipe.steps == (5_000 if case.inputs == 1 else 50_000)
        assert bool(case.recipe.penalties) == (case.inputs == 2)


def test_losses_of_chapter_6_switch_where_published():
    for name, switch in (("division", 25_000), ("arithmetic", 750_000)):
        cases = EXPERIMENTS[f"thesis/ch6/losses/{name}"].cases
        assert {(c.recipe.loss, c.recipe.then, c.recipe.switch) for c in cases} == {
            *((loss, "", 0) for loss in ("mse", "pcc", "mape")),
            ("pcc", "mse", switch),
        }
    lengths = {(unit_of(c), c.recipe.steps) for c in EXPERIMENTS["thesis/ch6/losses/arithmetic"].cases}
    assert lengths == {("NAU-NMU", 5_000_000), ("NAU-SNMU", 2_000_000)}
    plain = {c for c in EXPERIMENTS["thesis/ch6/losses/arithmetic"].cases if c.recipe.loss == "mse"}
    assert plain <= set(EXPERIMENTS["thesis/ch4/arithmetic"].cases)


def test_the_squared_error_cannot_tell_a_better_from_a_worse_solution_on_a_narrow_range():
    """Thesis Table 6.2: sums of two of four inputs, multiplied; a weight not there yet, and a wrong one."""
    right = torch.tensor([[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    near, wrong = right.clone(), right.clone()
    near[0, 1] = 0.9
    wrong[0, 1], wrong[0, 3] = 0.0, 0.9
    rows = {
        "selection ok, weights ok": right,
        "selection ok, one weight 0.9": near,
        "selection wrong, weight 0.9": wrong,
    }
    inputs = {"i1=[1,2,3,4]": [1.0, 2.0, 3.0, 4.0], "i2=[1.11..1.14]": [1.11, 1.12, 1.13, 1.14]}
    sums, product = NAU(4, 2), NMU.solved("multiply")
    published = claims("MSE-uninformative example", places=("Table 6.2",))
    ours = {}
    for where, weight in rows.items():
        sums.assign_({"weight": weight})
        for name, x in inputs.items():
            ours[where, name] = product(sums(torch.tensor(x))).item()
    for claim in published:
        where, name = claim.where.split("; ")
        value = ours[where, name]
        off = abs(value - ours["selection ok, weights ok", name])
        assert (value if claim.metric == "output" else off) == pytest.approx(claim.value, abs=2e-5)
    errors = {c.where: c.value for c in published if c.metric == "abs_error"}
    for name, fooled in (("i1=[1,2,3,4]", False), ("i2=[1.11..1.14]", True)):
        worse, better = (errors[f"{row}; {name}"] for row in list(rows)[:0:-1])
        assert (worse < better) == fooled


def test_the_inalu_papers_tasks_have_the_settings_of_its_code():
    for e in experiments("schloer"):
        for c in e.cases:
            r, coded = c.recipe, "/code/" in e.name
            assert (r.steps, r.batch, r.lr, r.clip_value) == (100_000, 64, 1e-2, 0.1)
            assert (r.optimiser, r.rules) == (("tf_rmsprop", "schloer") if coded else ("rmsprop", ""))
            assert r.inalu == (unit_of(c) == "INALU" and not coded) and c.task.sample == 64_000
    sizes = {e.name: len(e.claims) for e in experiments("schloer") if e.claims}
    tables = {"minimal": 2 * 7 * 4, "simple": 2 * 7 * 4, "function": 2 * 2 * 4}
    assert sizes == {f"schloer/code/{name}": count for name, count in tables.items()}


def test_recipes_of_chapter_5_are_data_of_one_place():
    assert ch5.TEN["NRU"].lr == 1e-3 and ch5.TWO["NRU"].lr == 1
    assert [c.recipe.l1.start for c in EXPERIMENTS["thesis/ch5/beta"].cases[::9]] == [b for b, _ in ch5.BETAS]
