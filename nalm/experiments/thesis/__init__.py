"""The chapters of the thesis, a file each."""
