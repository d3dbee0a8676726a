"""Who trains: processes of this machine, or a Ray cluster."""
