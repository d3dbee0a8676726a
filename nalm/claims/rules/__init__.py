"""How a published number is compared with ours: one rule for each kind of number."""
