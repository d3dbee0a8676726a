"""The conformance kit: tests of the whole contract, for any unit.

``check_unit(MyUnit)`` runs every check and lists all that fail, each with the fault and where to look.
"""

import copy
import inspect
import io
import itertools
import pickle
from collections.abc import Callable

import torch
from torch import Generator, Tensor
from torch.func import functional_call, stack_module_state, vmap

from nalm.errors import NALMError
from nalm.formulas.symbolic import disagreement, evaluate
from nalm.operations import OPERATIONS
from nalm.population import member, stack
from nalm.units.base import Unit
from nalm.units.spelling import letters

Check = Callable[[type[Unit]], None]


def seeded(seed: int) -> Generator:
    """Return a new generator with this seed."""
    return Generator().manual_seed(seed)


def inputs(cls: type[Unit], *shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return numbers that a unit accepts, of both signs where it accepts both, not near zero."""
    x = torch.rand(shape, generator=seeded(seed), dtype=dtype) + 0.3
    if cls.accepts == "positive":
        return x
    return x * (torch.rand(shape, generator=seeded(seed + 1)) - 0.5).sign()


def operands(cls: type[Unit], operation: str, n: int, width: int, seed: int = 0) -> Tensor:
    """Return rows on which a solved unit must be right: magnitudes 1e-6 to 1e6 in all sign patterns of its domain."""
    if cls.domain == "boolean":
        return torch.randint(0, 2, (n, width), generator=seeded(seed)).double()
    x = 10 ** (12 * torch.rand(n, width, generator=seeded(seed), dtype=torch.float64) - 6)
    if cls.domain == "real" and operation != "sqrt":
        signs = torch.tensor(list(itertools.product((1.0, -1.0), repeat=min(width, 6))))
        pad = torch.ones(len(signs), width - signs.shape[1])
        x = x * torch.cat([signs, pad], 1)[torch.arange(n) % len(signs)]
    if OPERATIONS[operation].kind == "comparison":
        x[::3, 1] = x[::3, 0]  # a third of the pairs are equal
    return x


def _equal(a: Tensor, b: Tensor, what: str, rtol: float = 1e-5) -> None:
    a, b = a.detach(), b.detach()
    scale = rtol * float(b.abs().max()) if b.numel() else 0.0
    if a.shape != b.shape or not torch.allclose(a, b, rtol=rtol, atol=max(1e-7, scale), equal_nan=True):
        raise AssertionError(
            f"{what}: expected {b.flatten()[:4].tolist()}..., got {a.flatten()[:4].tolist()}..."
        )


def check_constructor(cls: type[Unit]) -> None:
    """Check the signature (in_features, out_features, *, own options with defaults, generator, device, dtype)."""
    parameters = inspect.signature(cls).parameters
    names = list(parameters)
    assert names[:2] == ["in_features", "out_features"], (
        f"the first arguments are {names[:2]}, and should be in_features and out_features"
    )
    for name in ("generator", "device", "dtype"):
        assert name in names, f"the constructor does not take {name!r}"
    for name in names[2:]:
        p = parameters[name]
        assert p.kind is p.KEYWORD_ONLY, f"{name!r} must be keyword-only"
        assert p.default is not p.empty, f"option {name!r} has no default"
    own = set(names[2:]) - {"generator", "device", "dtype"}
    assert own == set(cls.options), f"options says {cls.options}, the constructor takes {sorted(own)}"
    for bad in (0, -1, 1.5):
        try:
            cls(bad, 1)  # type: ignore[arg-type]
        except NALMError:
            continue
        raise AssertionError(f"in_features={bad} was accepted")


def check_shapes(cls: type[Unit]) -> None:
    """Check any leading axes, a single row and an empty batch; other inputs must raise a NALMError that names it."""
    unit = cls(3, 2)
    for lead in ((), (1,), (5,), (0,), (4, 5), (2, 3, 4), (2, 0, 3)):
        y = unit(inputs(cls, *lead, 3))
        assert y.shape == (*lead, 2), f"x of shape {(*lead, 3)} gave y of shape {tuple(y.shape)}"
    for bad in (inputs(cls, 5, 2), torch.ones(5, 3, dtype=torch.int64), torch.tensor(1.0)):
        try:
            unit(bad)
        except NALMError as error:
            assert cls.__name__ in str(error), f"the error does not name the unit: {error}"
            continue
        raise AssertionError(f"x of shape {tuple(bad.shape)} and type {bad.dtype} was accepted")


def check_gradients(cls: type[Unit]) -> None:
    """Check that every parameter changes the output and gets a gradient, also after it was changed."""
    unit, x = cls(3, 2, generator=seeded(3), dtype=torch.float64), inputs(cls, 16, 3, dtype=torch.float64)
    for _ in range(2):
        unit.zero_grad()
        for _ in range(4):  # noise may close a gate for one draw
            y = unit(x)
            assert y.isfinite().all(), "the output at the start is not finite"
            assert y.requires_grad, (
                f"no gradient reaches any of the parameters {[n for n, _ in unit.named_parameters()]}: is the "
                "effective weight computed in the constructor instead of the forward pass, or detached?"
            )
            (y * torch.linspace(1, 2, y.numel(), dtype=y.dtype).reshape(y.shape)).sum().backward()
        for name, p in unit.named_parameters():
            assert p.grad is not None and bool((p.grad != 0).any()) and bool(p.grad.isfinite().all()), (
                f"no usable gradient reaches parameter {name!r}: is the effective weight computed in the "
                "constructor instead of the forward pass, or detached?"
            )
            before = _quiet(unit, x)
            with torch.no_grad():
                p.add_(0.05 * torch.ones_like(p) * torch.linspace(1, 2, p.numel()).reshape(p.shape))
            assert not torch.equal(before, _quiet(unit, x)), (
                f"changing parameter {name!r} does not change the output: is the effective weight computed "
                "in the constructor instead of the forward pass?"
            )


def _quiet(unit: Unit, x: Tensor) -> Tensor:
    """Return the output in evaluation mode, without gradients."""
    mode = unit.training
    with torch.no_grad():
        y: Tensor = unit.eval()(x)
    unit.train(mode)
    return y


def check_finite_at_zero(cls: type[Unit]) -> None:
    """Check that gradients are finite at zero and below wherever the output is finite."""
    if cls.accepts == "positive":
        return
    made = [cls(2, 1, generator=seeded(1)), cls(2, 1, generator=seeded(2)).eval()]
    solved = [_solved(cls, operation).eval() for operation in cls.gold]
    for unit in (*made, *solved):
        for row in itertools.product((0.0, -1.5, 2.0), repeat=unit.in_features):
            x = torch.tensor([row], dtype=next(unit.parameters()).dtype, requires_grad=True)
            unit.zero_grad()
            y = unit(x)
            if not y.isfinite().all():
                continue
            y.sum().backward()
            for name, leaf in (("x", x), *unit.named_parameters()):
                assert leaf.grad is None or leaf.grad.isfinite().all(), (
                    f"at x={row} the output is {y.item():g} but the gradient of {name!r} is {leaf.grad}"
                    f"{'' if unit.eps else ' (in the exact form, eps = 0)'}"
                )


def check_precision(cls: type[Unit]) -> None:
    """Check that float64 stays float64, and that bf16 autocast and bf16 inputs are computed in float32."""
    x = inputs(cls, 7, 3, dtype=torch.float64)
    unit = cls(3, 2, generator=seeded(0), dtype=torch.float64).eval()
    exact = unit(x)
    assert exact.dtype == torch.float64, f"a float64 unit returned {exact.dtype}"
    single = copy.deepcopy(unit).float()
    _equal(single(x.float()).double(), exact, "float32 differs from float64", rtol=1e-3)
    wide = cls(40, 2, generator=seeded(0)).eval()
    wide_x = inputs(cls, 7, 40)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for u, v in ((single, x.float()), (wide, wide_x)):
            y = u(v)
            assert y.dtype == torch.float32, f"under bf16 autocast the unit returned {y.dtype}"
            assert torch.equal(y, _outside(u, v)), "bf16 autocast changed the arithmetic"
        assert single(x.bfloat16()).dtype == torch.float32, "bf16 inputs are not promoted to float32"


def _outside(unit: Unit, x: Tensor) -> Tensor:
    with torch.autocast("cpu", enabled=False):
        y: Tensor = unit(x)
    return y


def check_randomness(cls: type[Unit]) -> None:
    """Check that a generator, or else ``torch.manual_seed``, decides the start, and that noise moves no generator."""
    before = torch.random.get_rng_state()
    first, same, other = (cls(3, 2, generator=seeded(s)) for s in (0, 0, 1))
    first(inputs(cls, 4, 3))
    assert torch.equal(before, torch.random.get_rng_state()), "torch's global generator was used"
    first.reset_parameters(seeded(0))
    with torch.random.fork_rng(devices=[]):
        free = cls(3, 2)
        torch.manual_seed(5)
        global_ones = cls(3, 2), cls(3, 2, generator=seeded(5))
    for one, two, what in ((first, same, "the same seed"), (*global_ones, "the same torch.manual_seed")):
        for (name, a), b in zip(one.state_dict().items(), two.state_dict().values(), strict=True):
            assert torch.equal(a, b), f"{name!r} differs between two units of {what}"
    states = [
        torch.cat([t.flatten().double() for t in u.state_dict().values()]) for u in (first, other, free)
    ]
    varies = any(not hasattr(s, "value") for s in first.start().values())
    assert not varies or not torch.equal(states[0], states[1]), "two seeds gave the same start"
    assert not varies or not torch.equal(states[0], states[2]), "without a generator the start is fixed"


def check_copies(cls: type[Unit]) -> None:
    """Check that state_dict, deepcopy, pickle and the meta device reproduce the layer."""
    unit, x = cls(3, 2, generator=seeded(0)), inputs(cls, 4, 3)
    blank = cls(3, 2, generator=seeded(1))
    blank.load_state_dict(unit.state_dict())
    copies = {"state_dict": blank, "deepcopy": copy.deepcopy(unit)}
    copies["pickle"] = pickle.load(io.BytesIO(pickle.dumps(unit)))  # our own bytes, made one line above
    y = unit(x)
    for way, other in copies.items():
        assert torch.equal(y, other(x)), f"the copy made by {way} computes something else"
    meta = cls(3, 2, device="meta")
    assert all(p.is_meta for p in meta.parameters()), "device='meta' was ignored"
    assert meta(x.to("meta")).shape == y.shape, "the meta device gives another shape"
    meta.to_empty(device="cpu").reset_parameters(seeded(0))
    assert torch.equal(_quiet(meta, x), _quiet(unit, x)), "to_empty and reset_parameters is not a fresh start"


def check_population(cls: type[Unit]) -> None:
    """Check that a population equals its members, in both modes, for batches, rows and nested batches."""
    for lead in ((7,), (), (2, 3)):
        members = [cls(3, 2, generator=seeded(s)) for s in range(5)]
        population = stack(members)
        x = inputs(cls, 5, *lead, 3)
        for training in (True, False):
            population.train(training)
            y = population(x)
            each = torch.stack([m.train(training)(row) for m, row in zip(members, x, strict=True)])
            _equal(y, each, f"a population differs from its members on (5, {lead}, 3), training={training}")
        for name, term in population.penalties(x).items():
            alone = torch.stack([m.penalties(row)[name] for m, row in zip(members, x, strict=True)])
            assert term.shape == (5,), f"penalty {name!r} of 5 runs has shape {tuple(term.shape)}"
            _equal(term, alone, f"penalty {name!r} of a population differs from its members'")
        _equal(
            population.sparsity_error(), torch.stack([m.sparsity_error() for m in members]), "sparsity_error"
        )
        _equal(_quiet(member(population, 3), x[3]), _quiet(members[3], x[3]), "member")


def check_vmap(cls: type[Unit]) -> None:
    """Check vmap over samples and over members."""
    unit, x = cls(3, 2, generator=seeded(0)).eval(), inputs(cls, 6, 3)
    _equal(vmap(unit)(x), torch.stack([unit(row) for row in x]), "vmap over samples")
    members = [cls(3, 2, generator=seeded(s)) for s in range(4)]
    state = stack_module_state(members)
    rows = inputs(cls, 4, 6, 3)
    y = vmap(lambda p, b, r: functional_call(members[0], (p, b), (r,)))(*state, rows)
    _equal(y, torch.stack([m(r) for m, r in zip(members, rows, strict=True)]), "vmap over members")


def check_projection(cls: type[Unit]) -> None:
    """Check that project() moves weights into their bounds, that twice is as once, and that it keeps legal weights."""
    unit = cls(3, 2, generator=seeded(0))
    start = copy.deepcopy(unit.state_dict())
    unit.project()
    for name, t in unit.state_dict().items():
        assert torch.equal(t, start[name]), f"project() moves {name!r} of a unit that has just started"
    with torch.no_grad():
        for p in unit.parameters():
            p.mul_(7).sub_(2)
    unit.project()
    once = copy.deepcopy(unit.state_dict())
    unit.project()
    for name, t in unit.state_dict().items():
        assert torch.equal(t, once[name]), f"project() twice moves {name!r} further than once"


def check_grids(cls: type[Unit]) -> None:
    """Check that snap_ puts every weight on its grid, where the penalties on weights and gates are zero."""
    for seed in range(4):
        unit = cls(3, 2, generator=seeded(seed), dtype=torch.float64)
        assert set(unit.grids) <= set(unit.weights()), "grids names a weight that weights() does not have"
        off = {n: v for n, v in unit.penalties().items() if n in ("weight", "gate")}
        unit.snap_()
        for name, grid in unit.grids.items():
            w = unit.weights()[name]
            far = (w.unsqueeze(-1) - torch.tensor(grid, dtype=w.dtype)).abs().amin(-1).max()
            assert far < 1e-12, f"after snap_ weight {name!r} is {w.tolist()}, not on its grid {grid}"
        for name, value in off.items():
            assert value > 0, (
                f"penalty {name!r} is {value.item():g} for weights off the grid: it has no effect"
            )
            on = unit.penalties()[name].item()
            assert abs(on) < 1e-9, f"penalty {name!r} is {on:g} on its own grid {dict(unit.grids)}, not zero"
        again = copy.deepcopy(unit).snap_().state_dict()
        for name, t in unit.state_dict().items():
            assert torch.allclose(t, again[name], rtol=1e-6), f"snap_ twice moves {name!r}"


def check_formulas(cls: type[Unit]) -> None:
    """Check that the formula of a snapped unit computes the same as the unit."""
    for seed in range(6):
        unit = cls(3, 2, generator=seeded(seed), dtype=torch.float64).snap_().exact_().eval()
        x = inputs(cls, 64, 3, seed=seed, dtype=torch.float64)
        x = (x > 0.8).double() if cls.domain == "boolean" else x
        assert len(unit.formulas()) == 2, f"2 outputs need 2 formulas, got {unit.formulas()}"
        error = disagreement(unit, x)
        assert error < 1e-9, f"the unit and its formulas {unit.formulas()} differ by a factor of {error:g}"


def _solved(cls: type[Unit], operation: str) -> Unit:
    arity = OPERATIONS[operation].arity
    return cls.solved(operation, arity if not cls.ignores else max(2, arity)).double()


def check_solved(cls: type[Unit]) -> None:
    """Check that gold weights perform their operations exactly, for magnitudes 1e-6 to 1e6 and all signs."""
    assert cls.gold, "gold names no operation the unit can perform"
    for operation, width in itertools.product(cls.gold, (2, 4) if cls.ignores else (None,)):
        arity = OPERATIONS[operation].arity
        unit = cls.solved(operation, width or arity).double()
        x = operands(cls, operation, 512, unit.in_features)
        assert_exact(unit, operation, x)
        symbols = letters(unit.in_features, positive=True if cls.domain == "positive" else None)
        values = dict(zip(symbols, x.unbind(-1), strict=True))
        formula = unit.formulas(symbols)[0]
        truth = OPERATIONS[operation].formula(*x.unbind(-1)[:arity])
        _equal(evaluate(formula, values), truth, f"{operation}: the formula reads {formula}", rtol=1e-9)
        assert cls.__name__ in repr(unit) and "y = " in repr(unit), f"repr shows no formula: {unit!r}"
    for operation in set(OPERATIONS) - set(cls.gold):
        try:
            cls.solved(operation)
        except NALMError as error:
            assert operation in str(error), f"the error does not name {operation!r}: {error}"
            continue
        raise AssertionError(f"solved({operation!r}) is not in gold and yet built a unit")


def assert_exact(unit: Unit, operation: str, x: Tensor) -> None:
    """Check that a solved unit is right up to rounding on x (batch, in), in training and evaluation."""
    known = OPERATIONS[operation]
    truth = known.formula(*x.unbind(-1)[: known.arity]).unsqueeze(-1)
    for training in (True, False):
        y = unit.train(training)(x).detach()
        wrong = ~torch.isclose(y, truth.expand(y.shape), rtol=64 * torch.finfo(x.dtype).eps, atol=0.0)
        if wrong.any():
            row = int(wrong.any(-1).nonzero()[0])
            a, b = y[row, 0].item(), truth[row, 0].item()
            why = (
                ": the sign is lost" if a == -b else f", off by {abs(a - b) / max(abs(b), 1e-300):.1g} of it"
            )
            raise AssertionError(
                f"solved({operation!r}) gives {a:g} for x={x[row].tolist()}, expected {b:g}{why}; only rounding in "
                f"{x.dtype} is allowed ({'training' if training else 'evaluation'} mode)"
            )


def check_export(cls: type[Unit]) -> None:
    """Check torch.export with a dynamic batch, in evaluation mode."""
    unit = cls(3, 2, generator=seeded(0)).eval()
    program = torch.export.export(
        unit, (inputs(cls, 4, 3),), dynamic_shapes={"x": {0: torch.export.Dim("batch", min=2, max=4096)}}
    )
    for rows in (3, 9):
        x = inputs(cls, rows, 3, seed=rows)
        _equal(program.module()(x), unit(x), f"the exported program differs on {rows} rows")


def check_compile(cls: type[Unit], backend: str = "aot_eager") -> None:
    """Check torch.compile(fullgraph=True), forward and backward, in training mode."""
    torch._dynamo.reset()
    unit = cls(3, 2, generator=seeded(0))
    twin, x = copy.deepcopy(unit), inputs(cls, 8, 3)
    compiled = torch.compile(twin, fullgraph=True, backend=backend)
    for _ in range(2):  # noise differs between the calls and agrees between the two
        y, z = unit(x), compiled(x)
        _equal(z, y, f"compiled by {backend}, the output differs")
    for u in (y, z):
        u.sum().backward()
    for (name, p), q in zip(unit.named_parameters(), twin.parameters(), strict=True):
        assert p.grad is not None and q.grad is not None
        _equal(q.grad, p.grad, f"compiled by {backend}, the gradient of {name!r} differs", rtol=1e-4)


CHECKS: tuple[Check, ...] = (
    check_constructor,
    check_shapes,
    check_gradients,
    check_finite_at_zero,
    check_precision,
    check_randomness,
    check_copies,
    check_population,
    check_vmap,
    check_projection,
    check_grids,
    check_formulas,
    check_solved,
    check_export,
    check_compile,
)


def check_unit(cls: type[Unit]) -> None:
    """Run the whole contract on a unit; raise one AssertionError that lists everything that fails, each cause once.

    >>> from nalm.units import NAU
    >>> check_unit(NAU)
    """
    failures: dict[str, list[str]] = {}  # cause -> the checks that it fails
    if cause := _unusable(cls):
        failures[cause] = ["check_unit"]
    for check in () if cause else CHECKS:
        try:
            check(cls)
        except Exception as error:  # a unit may fail in any way; all of them are reported together
            failures.setdefault(f"{type(error).__name__}: {error}", []).append(check.__name__)
    if failures:
        lines = [f"- {', '.join(names)}: {cause}" for cause, names in failures.items()]
        raise AssertionError(
            f"{getattr(cls, '__name__', cls)} breaks the contract of a unit:\n" + "\n".join(lines)
        )


def _unusable(cls: type[Unit]) -> str:
    """Return why no check can be made at all; empty if they can."""
    if not isinstance(cls, type) or not issubclass(cls, Unit):
        return "it must be a class derived from nalm.Unit; `nalm new unit NAME` writes one to begin with"
    if missing := sorted(cls.__abstractmethods__):
        return f"it does not define {', '.join(missing)}: see the docstring of nalm.Unit for what they return"
    try:
        unit = cls(2, 1, generator=seeded(0))
    except Exception as error:
        return (
            f"{cls.__name__}(2, 1, generator=...) fails with {type(error).__name__}: {error}; a constructor takes "
            "(in_features, out_features, *, own options, generator=None, device=None, dtype=None)"
        )
    if not getattr(unit, "grids", {}):
        return 'grids names no weight: write the values of each when solved, such as grids = {"weight": (0.0, 1.0)}'
    if missing := sorted(set(unit.grids) - set(unit.weights())):
        return (
            f"grids names {', '.join(missing)}, which weights() does not return: a unit whose parameters are not its "
            "weights defines weights() and assign_(), as examples/my_unit.py does"
        )
    try:
        unit(inputs(cls, 3, 2))
    except Exception as error:
        return f"{cls.__name__}(2, 1) fails on x of shape (3, 2) with {type(error).__name__}: {error}"
    try:
        y = stack([cls(2, 1, generator=seeded(s)) for s in range(5)])(inputs(cls, 5, 3, 2))
        if y.shape != (5, 3, 1):
            raise ValueError(f"y has the shape {tuple(y.shape)}")
    except Exception as error:
        return (
            f"a population of 5 runs fails on x of shape (5, 3, 2) with {type(error).__name__}: {error}; compute gets "
            "x (*runs, batch, in) and parameters (*runs, ...): index axes from the end, as dim=-1"
        )
    return ""
