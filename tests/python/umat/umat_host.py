"""A UMAT host in a few lines: calls ``umat_`` of a plugin as a Fortran program would."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

#: Host component -> Mandel component, for NTENS = 6: xx yy zz xy xz yz and xx yy zz yz xz xy.
MANDEL = [0, 1, 2, 5, 4, 3]
COMPONENTS = {(3, 3): MANDEL, (3, 1): [0, 1, 2, 5], (2, 1): [0, 1, 5], (1, 0): [0]}
_SHEAR = np.array([1, 1, 1, 2**0.5, 2**0.5, 2**0.5])


def stress_to_mandel(host: np.ndarray) -> np.ndarray:
    """Six components of the host, symmetric tensor."""
    return np.asarray(host)[MANDEL] * _SHEAR


def stress_from_mandel(mandel: np.ndarray, kind: tuple[int, int] = (3, 3)) -> np.ndarray:
    """What the host has of a stress."""
    return (np.asarray(mandel) / _SHEAR)[COMPONENTS[kind]]


def strain_to_mandel(host: np.ndarray, kind: tuple[int, int] = (3, 3)) -> np.ndarray:
    """Engineering shear to Mandel, zero where the host has no component."""
    mandel = np.zeros(6)
    mandel[COMPONENTS[kind]] = host
    return mandel / _SHEAR


def tangent_from_mandel(mandel: np.ndarray, kind: tuple[int, int] = (3, 3)) -> np.ndarray:
    """What the host has of a tangent, by engineering strains."""
    scaled = np.asarray(mandel) / _SHEAR[:, None] / _SHEAR[None, :]
    return scaled[np.ix_(COMPONENTS[kind], COMPONENTS[kind])]


@dataclass
class Point:
    """Arguments of a call; arrays that the law changes are changed."""

    kind: tuple[int, int] = (3, 3)
    n_statev: int = 20
    props: tuple[float, ...] = (0.0,)
    time: tuple[float, float] = (0.0, 0.0)
    dt: float = 1.0
    temperature: tuple[float, float] = (0.0, 0.0)
    predef: tuple[tuple[float, float], ...] = ((0.0, 0.0),)
    stress: np.ndarray = field(default_factory=lambda: np.zeros(0))
    statev: np.ndarray = field(default_factory=lambda: np.zeros(0))
    strain: np.ndarray = field(default_factory=lambda: np.zeros(0))
    strain_increment: np.ndarray = field(default_factory=lambda: np.zeros(0))
    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    F0: np.ndarray = field(default_factory=lambda: np.eye(3))
    F1: np.ndarray = field(default_factory=lambda: np.eye(3))
    ddsdde: np.ndarray = field(default_factory=lambda: np.zeros(0))
    pnewdt: float = 1.0
    n_tens: int = 0

    def __post_init__(self) -> None:
        self.n_tens = self.n_tens or sum(self.kind)
        for name in ("stress", "strain", "strain_increment"):
            if not getattr(self, name).size:
                setattr(self, name, np.zeros(self.n_tens))
        if not self.statev.size:
            self.statev = np.zeros(self.n_statev)
        self.ddsdde = np.zeros(self.n_tens * self.n_tens)

    def next(self) -> None:
        """The step is accepted."""
        self.strain = self.strain + self.strain_increment
        self.time = (self.time[0] + self.dt, self.time[1] + self.dt)


class Umat:
    """A plugin, loaded.

    :param library: ``<name>.so`` or ``<name>-opt.plugin``
    :param places: first entry of STATEV of each state variable, from 0
    """

    def __init__(self, library: Path, places: dict[str, int] | None = None) -> None:
        self.places = places or {}
        self._function = ctypes.CDLL(str(library)).umat_
        self._function.restype = None

    def __call__(self, p: Point) -> None:
        """Evaluate a point."""
        keep = []

        def doubles(values: object) -> ctypes.c_void_p:
            array = np.ascontiguousarray(values, dtype=float)
            keep.append(array)
            return array.ctypes.data_as(ctypes.c_void_p)

        def integer(value: int) -> ctypes.c_void_p:
            keep.append(np.array([value], dtype=np.int32))
            return keep[-1].ctypes.data_as(ctypes.c_void_p)

        nothing = doubles(np.zeros(16))
        pnewdt = np.array([p.pnewdt])
        self._function(
            *(doubles(p.stress), doubles(p.statev), doubles(p.ddsdde)),
            *([nothing] * 7),
            *(doubles(p.strain), doubles(p.strain_increment), doubles(p.time), doubles(p.dt)),
            *(doubles(p.temperature[0]), doubles(p.temperature[1])),
            *(doubles([a for a, _ in p.predef]), doubles([b for _, b in p.predef])),
            ctypes.c_char_p(b"STEEL".ljust(80)),
            *(integer(p.kind[0]), integer(p.kind[1]), integer(p.n_tens), integer(len(p.statev))),
            *(doubles(p.props), integer(len(p.props))),
            nothing,
            *(doubles(p.rotation.T), doubles(pnewdt), nothing, doubles(p.F0.T), doubles(p.F1.T)),
            *(integer(12), integer(3), integer(1), integer(1), integer(1), integer(4)),
        )
        p.pnewdt = float(pnewdt[0])
