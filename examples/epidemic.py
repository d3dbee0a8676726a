"""From a trajectory to the equations behind it: an epidemic whose transmission grows with square roots.

The data are those of the power units' paper (40 times, S, I and R), to which its best network gave S^0.57 I^0.62 and an
extra R^0.64. The command line does the same from a file: ``nalm ode epidemic.csv --time t``.
"""

import numpy as np

import nalm
from nalm.tasks.epidemic import NAMES, published


def main(restarts: int = 10) -> None:
    t, x = published()
    found = nalm.ode.fit(t, x, NAMES, restarts=restarts)
    print(found)
    print(f"{found.verdict}: {found.tested}")
    print("found by {} of {} restarts".format(*found.restarts))

    start = [150.0, 0.1, 0.0]  # another epidemic, never seen
    s, i, r = found.simulate(np.linspace(0, 100, 5), start)[-1]
    print(f"from {start}: S = {s:.2f}, I = {i:.2f}, R = {r:.2f} at t = 100")


def noisy(restarts: int = 10) -> None:
    t, x = published()
    x = x + 0.01 * x.std(0) * np.random.default_rng(0).standard_normal(x.shape)
    found = nalm.ode.fit(t, x, NAMES, restarts=restarts)
    print("with 1% of noise:", found, *found.flags, sep="\n")
    for number in found.intervals:
        print(f"  {number.where}: {number.value:.4g}, 95% interval {number.low:.4g} to {number.high:.4g}")


if __name__ == "__main__":
    main()
    noisy()
