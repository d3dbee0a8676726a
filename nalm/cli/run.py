"""The command run: train experiments into a results folder."""

import contextlib
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from nalm.cli import landscapes, run_output
from nalm.cli.app import OUT, Device, Json, Out, app, with_options
from nalm.cli.changes import Epochs, KeepSchedule, Like, Models, Only, Steps, Sweeps, Units, changes
from nalm.cli.stopping import code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from nalm.lab.executors.base import Executor


@dataclass(frozen=True)
class RunOptions:
    """The options of `nalm run`; each field is an option of the command line."""

    names: Annotated[
        list[str],
        typer.Argument(help="Experiments, prefixes such as thesis/ch3, or files such as my_study.py."),
    ]
    seeds: Annotated[str, typer.Option(help="How many, or A:B for A to B-1; default: as published.")] = ""
    only: Only = None
    unit: Units = None
    model: Models = None
    like: Like = ""
    sweep: Sweeps = None
    device: Device = "auto"
    out: Out = OUT
    steps: Steps = None
    epochs: Epochs = None
    keep_schedule: KeepSchedule = False
    data: Annotated[str, typer.Option(help="The folder of MNIST's files; default: NALM_DATA.")] = ""
    no_compile: Annotated[
        bool, typer.Option("--no-compile", help="Run eagerly: slower, no compiler needed.")
    ] = False
    workers: Annotated[int, typer.Option(help="Number of processes; 0 chooses it automatically.")] = 0
    on: Annotated[
        str,
        typer.Option(
            help="ray or ray:ADDRESS: train on a cluster; without address RAY_ADDRESS, or this machine."
        ),
    ] = ""
    save_every: Annotated[float, typer.Option(help="Seconds between checkpoints, at least.")] = 15.0
    max_time: Annotated[
        float | None,
        typer.Option(help="Seconds after which unfinished runs are saved; the same command resumes them."),
    ] = None
    precision: Annotated[
        str,
        typer.Option(
            help="float32, tf32 or bfloat16: of networks that read images; default: bfloat16 on a GPU."
        ),
    ] = ""
    no_curves: Annotated[
        bool, typer.Option("--no-curves", help="Keep the last evaluation of a run only: for many seeds.")
    ] = False
    json: Json = False


@app.command()
@with_options(RunOptions)
def run(options: RunOptions) -> None:
    """Run experiments; finished runs are not trained again, interrupted ones are resumed.

    Cases of several experiments that can share a program are trained together.
    """
    for name in filter(landscapes.is_landscape, options.names):  # nothing to train: they are computed
        landscapes.show(name, options.json)
    names = [name for name in options.names if not landscapes.is_landscape(name)]
    if not names:
        return
    from rich.console import Console

    from nalm.lab import request

    console = Console(stderr=True)
    wanted, notes = request.experiments(names, options.seeds, changes(options))  # before torch is loaded

    from nalm.cli import progress
    from nalm.lab import run as lab

    for note in notes:
        console.print(note, markup=False, highlight=False, soft_wrap=True)
    with contextlib.ExitStack() as stack:
        executor = stack.enter_context(_cluster(options)) if options.on else None
        compiled = not options.no_compile and (executor is not None or _can_compile(options, stack, console))
        bar = stack.enter_context(progress.Progress(console))
        try:
            state = lab.run(
                wanted,
                options.out,
                device=options.device,
                compiled=compiled,
                workers=options.workers or None,
                executor=executor,
                show=bar,
                save_every=options.save_every,
                data=options.data,
                curves=not options.no_curves,
                precision=options.precision,
                max_time=math.inf if options.max_time is None else options.max_time,
            )
        except KeyboardInterrupt as stopped:
            message = f"Stopped. Finished runs are in {options.out}; the same command resumes the others."
            console.print(message, markup=False, soft_wrap=True)
            raise typer.Exit(code(stopped)) from None
    if state.finished < state.runs:
        message = (
            f"The time is over: {state.finished} of {state.runs} runs are finished and in {options.out}; "
        )
        console.print(f"{message}the same command resumes the others.", markup=False, soft_wrap=True)
    run_output.results(wanted, options.out, options.json)


@contextlib.contextmanager
def _cluster(options: RunOptions) -> "Iterator[Executor]":
    """Connect to a Ray cluster."""
    from nalm.lab.executors import ray as cluster

    with (
        open(os.devnull, "w", encoding="utf-8") as quiet,
        contextlib.redirect_stdout(quiet),  # Ray prints messages about ended workers there
        cluster.connected(options.on, options.device, options.workers or None) as executor,
    ):
        yield executor


def _can_compile(options: RunOptions, stack: contextlib.ExitStack, console: "Console") -> bool:
    """Return whether this machine can compile for the device; print a sentence if that is impossible or slower."""
    from nalm.engine import device_for
    from nalm.lab import machine

    sentence = machine.without_compiler() if device_for(options.device).type == "cpu" else ""
    possible = not sentence
    if possible:
        possible, sentence = stack.enter_context(machine.compiler_cache())
    if sentence:
        console.print(sentence, markup=False, highlight=False, soft_wrap=True)
    return possible
