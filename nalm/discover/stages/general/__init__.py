"""The last rung: a search among nested expressions that goes on until it finds a law or time is up.

``pool.py`` makes expressions from the bottom up. ``states.py`` undoes operations from the top down: y divided by one
of them, the square of that, that less another one. ``lookup.py`` finds where the two meet, with the numbers of a
last sum solved in closed form.
"""

from nalm.discover.stages.general.search import general as general
