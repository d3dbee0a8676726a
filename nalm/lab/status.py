"""What a results folder holds, in plain values."""

import time
from typing import Any

from nalm.config import Case
from nalm.results import checkpoints
from nalm.results import networks as saved
from nalm.results.store import OUTCOMES, Store


def _reading_on(store: Store) -> list[dict[str, Any]]:
    """Networks of images that are not at the end of a training that was asked for."""
    lengths: dict[str, dict[int, Case]] = {}
    for name in store.experiments():
        for case in store.cases(name):
            if case.task.extends:
                lengths.setdefault(case.trunk.hash, {})[case.recipe.steps] = case
    found = []
    for trunk, seed, at in saved.networks(store.folder):
        asked = lengths.get(trunk, {})
        done = at in asked and store.found([(asked[at].hash, seed)])
        further = [case for steps, case in sorted(asked.items()) if steps >= at]
        if further and not done:
            case = further[0]
            found.append({"case": case.name, "seed": seed, "at": at, "steps": case.recipe.steps})
    return found


def status(store: Store) -> dict[str, Any]:
    """What a results folder holds, in plain values."""
    rows: list[dict[str, Any]] = []
    ended = store.counts()
    for name, title in store.experiments().items():
        count = {word: ended.get(name, {}).get(word, 0) for word in OUTCOMES}
        runs = sum(count.values())
        rows.append(
            {"experiment": name, "title": title, "cases": len(store.cases(name)), "runs": runs, **count}
        )
    now = time.time()
    working = [
        {"command": s["command"], "since": now - s["started"], "seen": now - s["seen"]}
        for s in store.sessions()
        if s["alive"]
    ]
    begun = store.begun()
    reading = _reading_on(store)
    waiting = [{"runs": len(c.runs), "file": c.path.name} for c in checkpoints.found(store.folder)]
    return {
        "folder": str(store.folder),
        "experiments": rows,
        "working": working,
        "checkpoints": waiting,
        "networks": reading,
        "begun": begun,
    }
