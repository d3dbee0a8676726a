"""Every published unit. To add one: write its file, then import its class below, in the order of tables.

The contract is in base.py. This room imports no other room, only base files such as ``functional`` and ``draws``.
"""

# ruff: noqa: I001  (the imports are the list of units, in the order in which tables show them)
import inspect

from nalm.errors import unknown
from nalm.units.base import Trainable as Trainable
from nalm.units.base import Unit as Unit

from nalm.units.nac import NAC as NAC
from nalm.units.nac import NACMul as NACMul
from nalm.units.nac_ablations import NACMulSigmoid as NACMulSigmoid
from nalm.units.nac_ablations import NACMulClamped as NACMulClamped
from nalm.units.nalu import NALU as NALU
from nalm.units.nalu import NALUSeparate as NALUSeparate
from nalm.units.gnalu import GNALU as GNALU
from nalm.units.inalu import INALU as INALU
from nalm.units.input_gated_inalu import InputGatedINALU as InputGatedINALU
from nalm.units.inac import INAC as INAC
from nalm.units.inac import IMNAC as IMNAC
from nalm.units.nau import NAU as NAU
from nalm.units.nmu import NMU as NMU
from nalm.units.nmu import NormalisedNMU as NormalisedNMU
from nalm.units.nmu import SigmoidNMU as SigmoidNMU
from nalm.units.snmu import SNMU as SNMU
from nalm.units.snmu import StgNMU as StgNMU
from nalm.units.snmu import StgProduct as StgProduct
from nalm.units.gated_nau_nmu import GatedNAUNMU as GatedNAUNMU
from nalm.units.npu import NaiveNPU as NaiveNPU
from nalm.units.npu import NPU as NPU
from nalm.units.npu import RealNPU as RealNPU
from nalm.units.modified_npu import ModifiedNPU as ModifiedNPU
from nalm.units.modified_npu import ModifiedRealNPU as ModifiedRealNPU
from nalm.units.nru import NRU as NRU
from nalm.units.nru import NRUSeparateSign as NRUSeparateSign
from nalm.units.nmru import NMRU as NMRU
from nalm.units.nmru import NMRUNoSign as NMRUNoSign
from nalm.units.nmru import NMRUGated as NMRUGated
from nalm.units.reversible import SNRU as SNRU
from nalm.units.reversible import SNMRU as SNMRU
from nalm.units.reversible import SModifiedRealNPU as SModifiedRealNPU
from nalm.units.mcfc import MCFC as MCFC
from nalm.units.mcfc import MulMCFC as MulMCFC
from nalm.units.mcfc import MulMCFCSignINALU as MulMCFCSignINALU
from nalm.units.mcfc import MulMCFCSignRealNPU as MulMCFCSignRealNPU
from nalm.units.nlrl import NLRL as NLRL
from nalm.units.nlrl import AndNLRL as AndNLRL
from nalm.units.nsr import NSR as NSR
from nalm.units.nsrnau import NSRNAU as NSRNAU
from nalm.units.scientific import ScientificNPU as ScientificNPU
from nalm.units.nspu import NSPU as NSPU

UNITS: dict[str, type[Unit]] = {
    name: found
    for name, found in list(globals().items())
    if inspect.isclass(found) and issubclass(found, Unit) and not inspect.isabstract(found)
}


def unit(name: str) -> type[Unit]:
    """Return the unit of that name, ours or a loaded one of the user; an unknown name is answered by the nearest.

    >>> unit("NMU").__name__
    'NMU'
    """
    from nalm.units.own import OWN

    if name in OWN:
        return OWN[name]
    if name not in UNITS:
        raise unknown("unit", name, UNITS)
    return UNITS[name]
