"""Executors train populations: ``local`` in processes of this machine, ``ray`` on a Ray cluster.

``base`` holds what they share, ``queue`` decides what is trained next and what is repeated after a failure.
"""
