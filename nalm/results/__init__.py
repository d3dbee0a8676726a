"""Finished runs: how they are stored, read, merged, summarised and compared.

``Store`` is one results folder; ``source`` reads any folder with results, stored or shipped as files.
May import ``nalm.config`` and the base modules. Nothing here imports torch.
"""
