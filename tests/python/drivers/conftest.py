"""Inputs with drivers, and a law compiled once."""

import shutil

import pytest
from driver_inputs import EXAMPLES

from matlaw.drivers import run_driver


@pytest.fixture
def drive(write):
    """Runs the driver ``d`` of an input file made of a model ``m``, tensors and the options of the driver."""

    def drive(model, driver, tensors="", kind="TransientDriver", more="", name="d"):
        path = write(
            f"[Tensors]\n{tensors}\n[]\n[Models]\n [m]\n{model}\n []\n[]\n"
            f"[Drivers]\n [d]\n type = {kind}\n model = m\n{driver}\n []\n{more}\n[]\n"
        )
        return run_driver(path, name)

    return drive


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """A folder with the viscoplastic example, its compiled law and a driver that takes either."""
    from matlaw.artifact.compile import compile_model

    folder = tmp_path_factory.mktemp("compiled")
    shutil.copy(EXAMPLES / "models" / "j2_viscoplastic.i", folder / "law.i")
    compile_model(folder / "law.i", "model", folder / "aoti", ["stress:strain"], backend="native")
    driver = (EXAMPLES / "drivers" / "uniaxial_viscoplastic.i").read_text()
    for name, law in (("eager", "law.i"), ("aot", "aoti/model_aoti.i")):
        (folder / f"{name}.i").write_text(driver.replace("../models/j2_viscoplastic.i", law))
    return folder
