"""Conversion of any two isotropic elastic constants to the bulk and the shear modulus.

Source: the usual table of conversions, e.g. G. Mavko, T. Mukerji, J. Dvorkin, The Rock Physics Handbook, 2nd ed.,
Cambridge 2009, table 2.2.1; each line follows from ``K = lambda + 2 G / 3``, ``M = K + 4 G / 3``,
``E = 9 K G / (3 K + G)`` and ``nu = (3 K - 2 G) / (2 (3 K + G))``.
"""

from __future__ import annotations

from collections.abc import Callable

from matlaw.tensors import Scalar
from matlaw.tensors.functions import sqrt

#: Symbol of each constant, the name of its parameter, by the type that an input file gives.
SYMBOLS: dict[str, str] = {
    "YOUNGS_MODULUS": "E",
    "POISSONS_RATIO": "nu",
    "SHEAR_MODULUS": "G",
    "BULK_MODULUS": "K",
    "LAME_LAMBDA": "lambda",
    "P_WAVE_MODULUS": "M",
}

Conversion = Callable[[Scalar, Scalar], tuple[Scalar, Scalar]]


def _youngs_poisson(E: Scalar, nu: Scalar) -> tuple[Scalar, Scalar]:
    return E / (3.0 * (1.0 - 2.0 * nu)), E / (2.0 * (1.0 + nu))


def _youngs_shear(E: Scalar, G: Scalar) -> tuple[Scalar, Scalar]:
    return E * G / (3.0 * (3.0 * G - E)), G


def _youngs_bulk(E: Scalar, K: Scalar) -> tuple[Scalar, Scalar]:
    return K, 3.0 * K * E / (9.0 * K - E)


def _youngs_lambda(E: Scalar, lam: Scalar) -> tuple[Scalar, Scalar]:
    R = sqrt(E * E + 9.0 * lam * lam + 2.0 * E * lam)
    return (E + 3.0 * lam + R) / 6.0, (E - 3.0 * lam + R) / 4.0


def _youngs_p_wave(E: Scalar, M: Scalar) -> tuple[Scalar, Scalar]:
    # Two materials have these constants; the root taken here is the one with a non-negative Poisson's ratio.
    S = sqrt(E * E + 9.0 * M * M - 10.0 * E * M)
    return (3.0 * M - E + S) / 6.0, (3.0 * M + E - S) / 8.0


def _poisson_shear(nu: Scalar, G: Scalar) -> tuple[Scalar, Scalar]:
    return 2.0 * G * (1.0 + nu) / (3.0 * (1.0 - 2.0 * nu)), G


def _poisson_bulk(nu: Scalar, K: Scalar) -> tuple[Scalar, Scalar]:
    return K, 3.0 * K * (1.0 - 2.0 * nu) / (2.0 * (1.0 + nu))


def _poisson_lambda(nu: Scalar, lam: Scalar) -> tuple[Scalar, Scalar]:
    return lam * (1.0 + nu) / (3.0 * nu), lam * (1.0 - 2.0 * nu) / (2.0 * nu)


def _poisson_p_wave(nu: Scalar, M: Scalar) -> tuple[Scalar, Scalar]:
    return M * (1.0 + nu) / (3.0 * (1.0 - nu)), M * (1.0 - 2.0 * nu) / (2.0 * (1.0 - nu))


def _shear_bulk(G: Scalar, K: Scalar) -> tuple[Scalar, Scalar]:
    return K, G


def _shear_lambda(G: Scalar, lam: Scalar) -> tuple[Scalar, Scalar]:
    return lam + G * (2.0 / 3.0), G


def _shear_p_wave(G: Scalar, M: Scalar) -> tuple[Scalar, Scalar]:
    return M - G * (4.0 / 3.0), G


def _bulk_lambda(K: Scalar, lam: Scalar) -> tuple[Scalar, Scalar]:
    return K, 1.5 * (K - lam)


def _bulk_p_wave(K: Scalar, M: Scalar) -> tuple[Scalar, Scalar]:
    return K, 0.75 * (M - K)


def _lambda_p_wave(lam: Scalar, M: Scalar) -> tuple[Scalar, Scalar]:
    return (M + 2.0 * lam) / 3.0, (M - lam) / 2.0


#: From a pair of types to the function that gives bulk and shear modulus.
CONVERSIONS: dict[tuple[str, str], Conversion] = {
    ("YOUNGS_MODULUS", "POISSONS_RATIO"): _youngs_poisson,
    ("YOUNGS_MODULUS", "SHEAR_MODULUS"): _youngs_shear,
    ("YOUNGS_MODULUS", "BULK_MODULUS"): _youngs_bulk,
    ("YOUNGS_MODULUS", "LAME_LAMBDA"): _youngs_lambda,
    ("YOUNGS_MODULUS", "P_WAVE_MODULUS"): _youngs_p_wave,
    ("POISSONS_RATIO", "SHEAR_MODULUS"): _poisson_shear,
    ("POISSONS_RATIO", "BULK_MODULUS"): _poisson_bulk,
    ("POISSONS_RATIO", "LAME_LAMBDA"): _poisson_lambda,
    ("POISSONS_RATIO", "P_WAVE_MODULUS"): _poisson_p_wave,
    ("SHEAR_MODULUS", "BULK_MODULUS"): _shear_bulk,
    ("SHEAR_MODULUS", "LAME_LAMBDA"): _shear_lambda,
    ("SHEAR_MODULUS", "P_WAVE_MODULUS"): _shear_p_wave,
    ("BULK_MODULUS", "LAME_LAMBDA"): _bulk_lambda,
    ("BULK_MODULUS", "P_WAVE_MODULUS"): _bulk_p_wave,
    ("LAME_LAMBDA", "P_WAVE_MODULUS"): _lambda_p_wave,
}


def bulk_and_shear(types: tuple[str, str], values: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
    """Bulk and shear modulus from two constants of different types, in any order.

    >>> pair = ("SHEAR_MODULUS", "YOUNGS_MODULUS")
    >>> K, G = bulk_and_shear(pair, (Scalar.constant(1.0), Scalar.constant(2.5)))
    >>> round(K.data.item(), 12)
    1.666666666667
    """
    if types in CONVERSIONS:
        return CONVERSIONS[types](*values)
    return CONVERSIONS[types[::-1]](*values[::-1])
