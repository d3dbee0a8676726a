"""Results as a page, as figures for papers, and as tables; every number on it is computed from runs."""
