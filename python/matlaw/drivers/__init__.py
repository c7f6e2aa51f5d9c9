"""Drivers: what an input file may do with its laws. Importing this registers the types of ``[Drivers]``."""

from matlaw.drivers.driver import Driver, Outcome, Progress
from matlaw.drivers.history import History
from matlaw.drivers.load import load_driver, run_driver
from matlaw.drivers.regression import TransientRegression
from matlaw.drivers.transient import TransientDriver
from matlaw.drivers.unit_test import ModelUnitTest
from matlaw.drivers.verification import Verification

__all__ = [
    "Driver",
    "History",
    "ModelUnitTest",
    "Outcome",
    "Progress",
    "TransientDriver",
    "TransientRegression",
    "Verification",
    "load_driver",
    "run_driver",
]
