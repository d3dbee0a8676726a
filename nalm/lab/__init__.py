"""The laboratory: run experiments, resume and verify them, estimate their cost, suggest a unit from measured runs.

May import engine, results, experiments, config, units, networks, tasks and the base modules.
"""
