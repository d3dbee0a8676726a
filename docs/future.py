"""Tables of the page future-work.md, computed from the shipped runs: the future work of the thesis."""

from future_codes import architectures, codes
from future_coefficients import coefficients, discreteness, invalid
from future_division import division, formulas, penalised
from future_noise import noise, optima
from future_own import alone, exchanged, own_unit, published, sums
from future_scientific import factors, scientific, wide
from future_selection import selection

TABLES = {
    "future_noise": noise,
    "future_optima": optima,
    "future_division": division,
    "future_division_formulas": formulas,
    "future_division_penalty": penalised,
    "future_scientific": scientific,
    "future_wide": wide,
    "future_factors": factors,
    "future_selection": selection,
    "future_codes": codes,
    "future_architectures": architectures,
    "future_coefficients": coefficients,
    "future_discreteness": discreteness,
    "future_invalid": invalid,
    "future_unit": own_unit,
    "future_published": published,
    "future_alone": alone,
    "future_losses": exchanged,
    "future_sums": sums,
}
