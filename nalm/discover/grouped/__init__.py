"""One law for several groups of rows: numbers that all share, and numbers that each group has of its own.

``search.py`` is the entry. ``choice.py`` fits the structures to all groups and ranks them, ``joint.py`` tells shared
numbers from own ones, ``law.py`` holds the result, ``verdict.py`` tests it.
"""
