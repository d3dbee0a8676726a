"""Laws of a known form: ``fit_form`` fits the numbers of "a*T*n/V + b" with intervals and a verdict.

This room may import the law, the fits, the certificate, the problem and the selection, not the stages or the search.
"""

from nalm.discover.form.fit import FormFit as FormFit
from nalm.discover.form.fit import fit_form as fit_form
from nalm.discover.form.groups import GroupFit as GroupFit
from nalm.discover.form.groups import fit_groups as fit_groups
