"""Training on trajectories of differential equations."""
