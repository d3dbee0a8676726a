"""The content of a results folder in plain values, for `nalm status`."""

import time
from typing import Any

from nalm.config import Case
from nalm.results import checkpoints
from nalm.results.networks import list_networks
from nalm.results.store import NAME, OUTCOMES, Store


def _unfinished_networks(store: Store) -> list[dict[str, Any]]:
    """Return the saved networks of images that have not reached the number of steps of a registered case."""
    lengths: dict[str, dict[int, Case]] = {}
    for name in store.experiments():
        for case in store.cases(name):
            if case.task.extends:
                lengths.setdefault(case.trunk.hash, {})[case.recipe.steps] = case
    found = []
    for trunk, seed, at in list_networks(store.folder):
        asked = lengths.get(trunk, {})
        done = at in asked and store.lookup([(asked[at].hash, seed)])
        further = [case for steps, case in sorted(asked.items()) if steps >= at]
        if further and not done:
            case = further[0]
            found.append({"case": case.name, "seed": seed, "at": at, "steps": case.recipe.steps})
    return found


def status(store: Store) -> dict[str, Any]:
    """Return experiments, running sessions, checkpoints, unfinished networks and abandoned runs of a store."""
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
    begun = store.count_abandoned()
    reading = _unfinished_networks(store)
    waiting = [{"runs": len(c.runs), "file": c.path.name} for c in checkpoints.list_checkpoints(store.folder)]
    return {
        "folder": str(store.folder if store.path.name == NAME else store.path),
        "experiments": rows,
        "working": working,
        "checkpoints": waiting,
        "networks": reading,
        "begun": begun,
    }
