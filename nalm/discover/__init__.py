"""Equation discovery: a ladder of solvable forms, numbers snapped to formulas, and a certificate."""

from nalm.discover.certificate import Certificate as Certificate
from nalm.discover.composition import Composed as Composed
from nalm.discover.composition import compose as compose
from nalm.discover.ladder import LADDER as LADDER
from nalm.discover.ladder import Candidate as Candidate
from nalm.discover.ladder import Discovery as Discovery
from nalm.discover.ladder import search as search
from nalm.discover.law import Law as Law
