"""Results as an offline page, as figures for papers and as LaTeX tables; every number is computed from runs.

May import claims, experiments, results, landscapes, formulas, config, tasks and units; never engine or lab.
"""
