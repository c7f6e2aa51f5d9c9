"""Models against cases worked out by hand."""

import math

import pytest
import torch

from matlaw.errors import InputFileError
from matlaw.tensors import MRP, SR2, TYPES, Scalar

E6 = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]
SHEAR = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
UNIT = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
STRETCH = [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]]
S = 2.0**0.5
ISO = "coefficients = '200 0.25'\ncoefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO'"  # K = 400/3, G = 80

#: text of the block, inputs, expected outputs
CASES = {
    # crystal plasticity
    "linear slip hardening": (
        "type = LinearSingleSlipHardeningRule\nhardening_slope = 3",
        {"slip_hardening": 7.0, "sum_slip_rates": 2.0},
        {"slip_hardening_rate": 6.0},
    ),
    "saturating slip hardening": (
        "type = VoceSingleSlipHardeningRule\ninitial_slope = 10\nsaturated_hardening = 4",
        {"slip_hardening": 1.0, "sum_slip_rates": 2.0},
        {"slip_hardening_rate": 10.0 * (1.0 - 0.25) * 2.0},
    ),
    "forest strength": (
        "type = DislocationObstacleStrengthMap\nconstant_strength = 5\nalpha = 0.5\nmu = 8\nb = 0.25",
        {"dislocation_density": 9.0},
        {"slip_strengths": 5.0 + 0.5 * 8.0 * 0.25 * 3.0},
    ),
    "storage and recovery": (
        "type = PerSlipForestDislocationEvolution\nk1 = 2\nk2 = 0.5",
        {"dislocation_density": 4.0, "slip_rates": -3.0},
        {"dislocation_density_rate": (2.0 * 2.0 - 0.5 * 4.0) * 3.0},
    ),
    "elastic strain that turns": (
        # A stretch along x that turns from x to y gains the shear xy.
        "type = ElasticStrainRate",
        {
            "elastic_strain": [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            "deformation_rate": [3.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            "vorticity": [0.0, 0.0, 1.0],
            "plastic_deformation_rate": [0.0, 2.0, 0.0, 0.0, 0.0, 0.0],
        },
        {"elastic_strain_rate": [3.0, -2.0, 0.0, 0.0, 0.0, S]},
    ),
    "spin of the lattice": (
        # d e - e d of a shear xy and a stretch along x is the unit spin about z.
        "type = OrientationRate",
        {
            "elastic_strain": [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            "vorticity": [1.0, 2.0, 3.0],
            "plastic_deformation_rate": [0.0, 0.0, 0.0, 0.0, 0.0, S],
            "plastic_vorticity": [0.0, 1.0, 0.0],
        },
        {"orientation_rate": [1.0, 1.0, 4.0]},
    ),
    "guess of an unloaded crystal": (
        "type = CrystalPlasticityStrainPredictor\nscale = 2",
        {"deformation_rate": E6, "t": 0.5, "t~1": 0.25, "elastic_strain~1": [1e-4, 0.0, 0.0, 0.0, 0.0, 0.0]},
        {"elastic_strain": [0.5001, 1.0, 1.5, 0.0, 0.0, 0.0]},
    ),
    "guess of a loaded crystal": (
        "type = CrystalPlasticityStrainPredictor\nscale = 2",
        {"deformation_rate": E6, "t": 0.5, "t~1": 0.25, "elastic_strain~1": SHEAR},
        {"elastic_strain": SHEAR},
    ),
    "guess of the plastic deformation": (
        "type = CrystalPlasticityDeformationGradientPredictor\nscale = 0.5",
        {
            "deformation_gradient": [[3.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            "plastic_deformation_gradient~1": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        },
        {"plastic_deformation_gradient": [[1.5, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]},
    ),
    "rotation by more than a half turn": (
        "type = FixOrientation",
        {"input": [2.0, 0.0, 0.0]},
        {"output": [-0.5, 0.0, 0.0]},
    ),
    "rotation by less than a half turn": (
        "type = FixOrientation",
        {"input": [0.0, 0.5, 0.0]},
        {"output": [0.0, 0.5, 0.0]},
    ),
    # plasticity
    "J2 direction": (
        "type = AssociativeJ2FlowDirection",
        {"mandel_stress": [5.0, 2.0, 2.0, 0.0, 0.0, 0.0]},
        {"flow_direction": [1.0, -0.5, -0.5, 0.0, 0.0, 0.0]},
    ),
    "J2 direction at pressure": (
        "type = AssociativeJ2FlowDirection",
        {"mandel_stress": UNIT},
        {"flow_direction": [0.0] * 6},
    ),
    "kinematic rate": (
        "type = AssociativeKinematicPlasticHardening",
        {"flow_rate": 2.0, "kinematic_hardening_direction": E6},
        {"kinematic_plastic_strain_rate": [-2.0, -4.0, -6.0, 0.0, 0.0, 0.0]},
    ),
    "Chaboche": (
        "type = ChabochePlasticHardening\nback_stress = X\nC = 3\ng = 2\nA = 0.5\na = 3",
        # norm of X is 2: 2/3 C N gamma - g X gamma - A 2^2 X
        {"flow_rate": 0.5, "flow_direction": SHEAR, "X": [0.0, 0.0, 0.0, 0.0, 0.0, 2.0]},
        {"X_rate": [0.0, 0.0, 0.0, 0.0, 0.0, 1.0 - 2.0 - 4.0]},
    ),
    "Chaboche without back stress": (
        "type = ChabochePlasticHardening\nback_stress = X\nC = 3\ng = 2\nA = 0.5\na = 3",
        {"flow_rate": 0.5, "flow_direction": SHEAR, "X": [0.0] * 6},
        {"X_rate": [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]},
    ),
    "Frederick-Armstrong": (
        "type = FredrickArmstrongPlasticHardening\nC = 3\ng = 2\nback_stress_rate = Y",
        {"flow_rate": 0.5, "flow_direction": SHEAR, "back_stress": SHEAR},
        {"Y": [0.0] * 6},
    ),
    "Gurson": (
        "type = GTNYieldFunction\nyield_stress = 1\nisotropic_hardening = k\nq1 = 1.5\nq2 = 2\nq3 = 3",
        {"flow_invariant": 4.0, "poro_invariant": 2.0, "void_fraction": 0.1, "k": 1.0},
        {"yield_function": 4.0 + 0.3 * math.cosh(1.0) - 1.03},
    ),
    "cavitation": (
        "type = GursonCavitation",
        {"plastic_strain_rate": E6, "void_fraction": 0.25},
        {"void_fraction_rate": 4.5},
    ),
    "sintering": (
        "type = OlevskySinteringStress\nsurface_tension = 2\nparticle_radius = 3",
        {"void_fraction": 0.5},
        {"sintering_stress": 0.5},
    ),
    "activation energy": (
        "type = KocksMeckingActivationEnergy\nshear_modulus = 4\neps0 = 1\nk = 2\nb = 2",
        {"temperature": 16.0, "strain_rate": math.exp(-3.0)},
        {"activation_energy": 3.0},
    ),
    "flow switch": (
        "type = KocksMeckingFlowSwitch\ng0 = 1\nsharpness = 2",
        {"activation_energy": 1.0, "rate_independent_flow_rate": 3.0, "rate_dependent_flow_rate": 5.0},
        {"flow_rate": 4.0},
    ),
    "flow viscosity": (
        "type = KocksMeckingFlowViscosity\nA = -2\nB = 0\nshear_modulus = 4\neps0 = 9\nk = 2\nb = 2",
        # k T A / (mu b^3) = -1/2
        {"temperature": 4.0},
        {"m": 4.0 / 3.0},
    ),
    "intercept": ("type = KocksMeckingIntercept\nA = -2\nB = 1\nC = -3", {}, {"intercept": 2.0}),
    "rate sensitivity": (
        "type = KocksMeckingRateSensitivity\nA = -2\nshear_modulus = 4\nk = 2\nb = 2",
        {"temperature": 4.0},
        {"rate_sensitivity": 2.0},
    ),
    "athermal yield": (
        "type = KocksMeckingYieldStress\nC = 1\nshear_modulus = 4",
        {},
        {"yield_stress": 4.0 * math.e},
    ),
    "trial stress": (
        f"type = LinearIsotropicElasticJ2TrialStressUpdate\n{ISO}",
        {"elastic_trial_stress": 300.0, "equivalent_plastic_strain": 0.75, "equivalent_plastic_strain~1": 0.5},
        {"updated_trial_stress": 240.0},
    ),
    "linear kinematic": (
        "type = LinearKinematicHardening\nhardening_modulus = 2",
        {"kinematic_plastic_strain": E6},
        {"back_stress": [2.0, 4.0, 6.0, 0.0, 0.0, 0.0]},
    ),
    "isotropic recovery": (
        "type = PowerLawIsotropicHardeningStaticRecovery\ntau = 2\nn = 3\nisotropic_hardening = k",
        {"k": -4.0},
        {"k_rate": 8.0},
    ),
    "kinematic recovery": (
        "type = PowerLawKinematicHardeningStaticRecovery\ntau = 2\nn = 3\nback_stress = X",
        {"X": [0.0, 4.0, 0.0, 0.0, 0.0, 0.0]},
        {"X_rate": [0.0, -8.0, 0.0, 0.0, 0.0, 0.0]},
    ),
    "Voce as a rate": (
        "type = SlopeSaturationVoceIsotropicHardening\nsaturated_hardening = 4\ninitial_hardening_rate = 10",
        {"flow_rate": 2.0, "isotropic_hardening": 1.0},
        {"isotropic_hardening_rate": 15.0},
    ),
    # elasticity and kinematics
    "Green-Lagrange": (
        "type = GreenLagrangeStrain",
        {"deformation_gradient": [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]},
        {"strain": [0.0, 0.125, 1.5, 0.0, 0.0, 0.25 * S]},
    ),
    "thermal strain": (
        "type = ThermalEigenstrain\nreference_temperature = 300\nCTE = 0.5",
        {"temperature": 304.0},
        {"eigenstrain": [2.0, 2.0, 2.0, 0.0, 0.0, 0.0]},
    ),
    "volume strain": (
        "type = VolumeChangeEigenstrain\nreference_volume = 2",
        {"volume": 16.0},
        {"eigenstrain": UNIT},
    ),
    "transformation strain": (
        "type = PhaseTransformationEigenstrain",
        {"phase_fraction": 0.5, "volume_fraction_change": 2.0},
        {"eigenstrain": UNIT},
    ),
    "thermal volume": (
        "type = ThermalDeformationJacobian\nreference_temperature = 300\nCTE = 0.5",
        {"temperature": 304.0},
        {"jacobian": 3.0},
    ),
    "swelling": (
        "type = SwellingAndPhaseChangeDeformationJacobian\nphase_fraction = 0.25\nswelling_coefficient = 2\n"
        "reference_volume_difference = 4",
        {"fluid_fraction": 0.5},
        {"jacobian": 1.0 + 0.25 + 1.5},
    ),
    "volume adjusted": (
        "type = VolumeAdjustDeformationGradient",
        {"input": STRETCH, "jacobian": 8.0},
        {"output": [[1.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 1.5]]},
    ),
    "annealing, cold": (
        "type = ScalarTwoStageThermalAnnealing\nT1 = 500\nT2 = 700\ntau = 2",
        {"base_rate": 3.0, "base": 8.0, "temperature": 499.0},
        {"modified_rate": 3.0},
    ),
    "annealing, first stage": (
        "type = ScalarTwoStageThermalAnnealing\nT1 = 500\nT2 = 700\ntau = 2",
        {"base_rate": 3.0, "base": 8.0, "temperature": 600.0},
        {"modified_rate": 0.0},
    ),
    "annealing, second stage": (
        "type = SR2TwoStageThermalAnnealing\nT1 = 500\nT2 = 700\ntau = 2",
        {"base_rate": [9.0] * 6, "base": E6, "temperature": 701.0},
        {"modified_rate": [-0.5, -1.0, -1.5, 0.0, 0.0, 0.0]},
    ),
    # viscoelasticity
    "dashpot": ("type = LinearDashpot\nviscosity = 2", {"stress": E6}, {"viscous_strain_rate": [0.5, 1, 1.5, 0, 0, 0]}),
    "Kelvin-Voigt": (
        "type = KelvinVoigtElement\nmodulus = 2\nviscosity = 3\nstrain = E",
        {"E": E6, "E_rate": SHEAR},
        {"stress": [2.0, 4.0, 6.0, 0.0, 0.0, 3.0]},
    ),
    "Zener": (
        "type = ZenerElement\nequilibrium_modulus = 1\nmaxwell_modulus = 2\nmaxwell_viscosity = 4",
        {"strain": E6, "viscous_strain": UNIT},
        {"stress": [1.0, 4.0, 7.0, 0, 0, 0], "viscous_strain_rate": [0.0, 0.5, 1.0, 0, 0, 0]},
    ),
    "Wiechert": (
        "type = WiechertElement\nequilibrium_modulus = 1\nmodulus_1 = 2\nviscosity_1 = 4\nmodulus_2 = 3\n"
        "viscosity_2 = 3\nviscous_strain_1 = a\nviscous_strain_2 = b",
        {"strain": E6, "a": UNIT, "b": E6},
        {"stress": [1.0, 4.0, 7.0, 0, 0, 0], "a_rate": [0.0, 0.5, 1.0, 0, 0, 0], "b_rate": [0.0] * 6},
    ),
    "Burgers": (
        "type = BurgersElement\nmaxwell_modulus = 2\nmaxwell_viscosity = 4\nkelvin_modulus = 1\nkelvin_viscosity = 2\n"
        "maxwell_viscous_strain = v\nkelvin_voigt_strain = k",
        {"strain": E6, "v": UNIT, "k": [0.0, 1.0, 1.0, 0, 0, 0]},
        {
            "stress": [0.0, 0.0, 2.0, 0, 0, 0],
            "v_rate": [0.0, 0.0, 0.5, 0, 0, 0],
            "k_rate": [0.0, -0.5, 0.5, 0, 0, 0],
        },
    ),
    # interfaces
    "mode mixity": (
        "type = ModeMixity",
        {"normal_separation": 2.0, "tangential_separation": 3.0},
        {"mode_mixity": 1.5},
    ),
    "mode mixity, closed": (
        "type = ModeMixity",
        {"normal_separation": 0.0, "tangential_separation": 3.0},
        {"mode_mixity": 0.0},
    ),
    "critical separation": (
        "type = CamanhoDavilaCriticalSeparation\nmode_mixity = beta\npenalty_stiffness = 10\nnormal_strength = 10\n"
        "shear_strength = 20",
        # 1 * 2 * sqrt(2 / (4 + 1))
        {"normal_separation": 1.0, "beta": 1.0},
        {"critical_separation": 2.0 * math.sqrt(0.4)},
    ),
    "critical separation, closed": (
        "type = CamanhoDavilaCriticalSeparation\nmode_mixity = 0\npenalty_stiffness = 10\nnormal_strength = 10\n"
        "shear_strength = 20",
        {"normal_separation": 0.0},
        {"critical_separation": 2.0},
    ),
    "Benzeggagh-Kenane": (
        "type = BenzeggaghKenaneFullSeparation\nmode_mixity = 1\ncritical_separation = 0.5\npenalty_stiffness = 4\n"
        "mode_I_fracture_toughness = 1\nmode_II_fracture_toughness = 5\nshear_strength = 20\neta = 2",
        {"normal_separation": 1.0},
        {"full_separation": 2.0},
    ),
    "Benzeggagh-Kenane, closed": (
        "type = BenzeggaghKenaneFullSeparation\nmode_mixity = 1\ncritical_separation = 0.5\npenalty_stiffness = 4\n"
        "mode_I_fracture_toughness = 1\nmode_II_fracture_toughness = 5\nshear_strength = 20\neta = 2",
        {"normal_separation": 0.0},
        {"full_separation": 0.5},
    ),
    "power law of energies": (
        "type = PowerLawFullSeparation\nmode_mixity = 1\ncritical_separation = 0.5\npenalty_stiffness = 4\n"
        "mode_I_fracture_toughness = 2\nmode_II_fracture_toughness = 2\nshear_strength = 20\neta = 1",
        {"normal_separation": 1.0},
        {"full_separation": 2.0},
    ),
    "linear interface": (
        "type = OrthotropicLinearTraction\nnormal_penetration = p\nnormal_stiffness = 2\ntangential_stiffness = 3\n"
        "penalty_stiffness = 10",
        {"normal_separation": 0.5, "p": -0.25, "tangential_separation_1": 1.0, "tangential_separation_2": -1.0},
        {"traction": [-1.5, 3.0, -3.0]},
    ),
    "bilinear, softening": (
        "type = BilinearTraction\npenalty_stiffness = 10\ncritical_separation = 1\nfull_separation = 3",
        # d = 3 (2 - 1) / (2 (3 - 1))
        {
            "effective_separation": 2.0,
            "normal_separation": 2.0,
            "tangential_separation_1": 0.0,
            "tangential_separation_2": 0.0,
            "damage~1": 0.5,
        },
        {"traction": [5.0, 0.0, 0.0], "damage": 0.75},
    ),
    "bilinear, unloading to zero": (
        "type = BilinearTraction\npenalty_stiffness = 10\ncritical_separation = 1\nfull_separation = 3",
        {
            "effective_separation": 0.0,
            "normal_separation": 0.0,
            "tangential_separation_1": 0.0,
            "tangential_separation_2": 0.0,
            "damage~1": 0.5,
        },
        {"traction": [0.0, 0.0, 0.0], "damage": 0.5},
    ),
    "exponential interface": (
        "type = SalehaniIraniTraction\nnormal_characteristic_length = 1\ntangential_characteristic_length = 1\n"
        "normal_strength = 3\nshear_strength = 5",
        {"normal_separation": 1.0, "tangential_separation_1": 0.0, "tangential_separation_2": 0.0, "damage~1": 0.0},
        {"traction": [3.0, 0.0, 0.0], "damage": 1.0 - math.exp(-1.0)},
    ),
    # common
    "Arrhenius": (
        "type = ArrheniusParameter\nreference_value = 2\nactivation_energy = 6\nideal_gas_constant = 3",
        {"temperature": 4.0},
        {"m": 2.0 * math.exp(-0.5)},
    ),
    "copy": ("type = CopySR2\nfrom = a\nto = b", {"a": E6}, {"b": E6}),
    "constant": ("type = ScalarConstantParameter\nvalue = 3", {}, {"m": 3.0}),
    "input as parameter": ("type = ScalarInputParameter\nvariable = a\nparameter = b", {"a": 2.0}, {"b": 2.0}),
    "parameter as variable": ("type = ScalarParameterToVariable\nfrom = 2\nto = b", {}, {"b": 2.0}),
    "explicit Euler": (
        "type = ScalarForwardEulerTimeIntegration\nvariable = x",
        {"x~1": 1.0, "t": 3.0, "t~1": 1.0, "x_rate": 4.0},
        {"x": 9.0},
    ),
    "minimum map": ("type = MinMapComplementarity", {"a": -3.0, "b": 4.0}, {"complementarity": 3.0}),
    "smooth step": (
        "type = HermiteSmoothStep\nlower_bound = 1\nupper_bound = 5",
        {"argument": 2.0},
        {"value": 3.0 / 16.0 - 2.0 / 64.0},
    ),
    "smooth step, beyond": (
        "type = HermiteSmoothStep\nlower_bound = 1\nupper_bound = 5\ncomplement = true",
        {"argument": 9.0},
        {"value": 0.0},
    ),
    "bump": (
        "type = SymmetricHermiteInterpolation\nlower_bound = 1\nupper_bound = 5",
        {"argument": 3.0},
        {"m": 0.5},
    ),
    "irreversible": ("type = IrreversibleScalar\nfrom = a\nto = b", {"a": 1.0, "b~1": 2.0}, {"b": 2.0}),
    "Macaulay split": ("type = MacaulaySplit\nfrom = a", {"a": -2.0}, {"to_positive": 0.0, "to_negative": -2.0}),
    "mixed control": (
        "type = MixedControlSetup",
        {"control": [1.0, 0.0, 0.5, 0.6, 0.0, 1.0], "x_above": [1.0] * 6, "x_below": [2.0] * 6},
        {"y": [1.0, 2.0, 2.0, 1.0, 2.0, 1.0], "z": [2.0, 1.0, 1.0, 2.0, 1.0, 2.0]},
    ),
    "determinant": (
        "type = R2Determinant",
        {"input": [[0.0, 2.0, 0.0], [1.0, 0, 0], [0, 0, 3.0]]},
        {"determinant": -6},
    ),
    "determinant of a symmetric tensor": (
        "type = SR2Determinant",
        {"input": [2.0, 2.0, 5.0, 0.0, 0.0, S]},
        {"determinant": 15.0},
    ),
    "product with inverse and transpose": (
        "type = R2Multiplication\nto = C\ninvert_A = true\ntranspose_B = true",
        {"A": STRETCH, "B": [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 6.0]]},
        {"C": [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 2.0]]},
    ),
    "symmetric part": (
        "type = R2ToSR2",
        {"input": [[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]},
        {"output": [1.0, 0.0, 0.0, 0.0, 0.0, S]},
    ),
    "skew part": (
        "type = R2ToWR2",
        {"input": [[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]},
        {"output": [0.0, 0.0, -1.0]},
    ),
    "full matrix": ("type = SR2ToR2", {"input": [0, 0, 0, 0, 0, S]}, {"output": [[0, 1, 0], [1, 0, 0], [0, 0, 0]]}),
    "multiple of the identity": ("type = ScalarToDiagonalSR2", {"input": 2.0}, {"output": [2.0, 2, 2, 0, 0, 0]}),
    "components": (
        "type = VecComponents\nfrom = v\nto = 'a b c'",
        {"v": [1.0, 2.0, 3.0]},
        {"a": 1.0, "b": 2.0, "c": 3.0},
    ),
    "product": (
        "type = ScalarMultiplication\nfrom = 'a b'\nto = c\nscaling = 3\nreciprocal = 'false true'",
        {"a": 8.0, "b": 4.0},
        {"c": 6.0},
    ),
    "norm": (
        "type = ScalarPNorm\nfrom = 'a b'\nto = c\nexponent = 2\nweights = '1 4'",
        {"a": -3.0, "b": 2.0},
        {"c": 5.0},
    ),
    "norm of zero": ("type = ScalarPNorm\nfrom = 'a b'\nto = c\nexponent = 2", {"a": 0.0, "b": 0.0}, {"c": 0.0}),
    "linear predictor": (
        "type = LinearExtrapolationPredictor\nunknowns_Scalar = x",
        {"x~1": 3.0, "x~2": 1.0, "t": 4.0, "t~1": 3.0, "t~2": 1.0},
        {"x": 4.0},
    ),
    "linear predictor, first step": (
        "type = LinearExtrapolationPredictor\nunknowns_Scalar = 'x y'\ncold = 'y:z'",
        {"x~1": 3.0, "x~2": 1.0, "y~1": 3.0, "y~2": 1.0, "z": 7.0, "t": 4.0, "t~1": 0.0, "t~2": 0.0},
        {"x": 3.0, "y": 7.0},
    ),
    "constant predictor, later step": (
        "type = ConstantExtrapolationPredictor\nunknowns_Scalar = 'y'\ncold = 'y:z'",
        {"y~1": 3.0, "z": 7.0, "t": 4.0, "t~1": 1.0, "t~2": 0.0},
        {"y": 3.0},
    ),
    # porous flow, reactions, phase field
    "advective stress": (
        "type = AdvectiveStress\njs = a\njt = b\ncoefficient = 3",
        {"deformation_gradient": STRETCH, "pk1_stress": STRETCH, "a": 8.0, "b": 8.0},
        {"advective_stress": -14.0 / 128.0},
    ),
    "Brooks-Corey": (
        "type = BrooksCoreyCapillaryPressure\nthreshold_pressure = 3\nexponent = 0.5",
        {"effective_saturation": 0.5},
        {"capillary_pressure": 12.0},
    ),
    "Brooks-Corey, extended to zero": (
        "type = BrooksCoreyCapillaryPressure\nthreshold_pressure = 3\nexponent = 0.5\nlog_extension = true\n"
        "transition_saturation = 0.5",
        {"effective_saturation": 0.0},
        {"capillary_pressure": 12.0 * math.exp(2.0)},
    ),
    "van Genuchten": (
        "type = VanGenuchtenCapillaryPressure\na = 3\nm = 0.5",
        {"effective_saturation": 0.5},
        {"capillary_pressure": 3.0 * math.sqrt(3.0)},
    ),
    "effective saturation": (
        "type = EffectiveSaturation\nresidual_saturation = 0.2\nmax_fraction = 0.5",
        {"fluid_fraction": 0.3},
        {"effective_saturation": 0.5},
    ),
    "exponential permeability": (
        "type = ExponentialLawPermeability\nreference_permeability = 2\nreference_porosity = 0.75\nscale = 2",
        {"porosity": 0.25},
        {"permeability": 2.0 * math.e},
    ),
    "power permeability": (
        "type = PowerLawPermeability\nreference_permeability = 2\nreference_porosity = 0.25\nexponent = 3",
        {"porosity": 0.5},
        {"permeability": 16.0},
    ),
    "Kozeny-Carman": (
        "type = KozenyCarmanPermeability\nreference_permeability = 2\nreference_porosity = 0.25\nn = 2\nm = 1",
        {"porosity": 0.5},
        {"permeability": 6.0},
    ),
    "Avrami": (
        "type = AvramiErofeevNucleation\ncoef = 2\norder = 2",
        {"conversion_degree": 1.0 - math.exp(-1.0)},
        {"reaction_rate": 2.0 * math.exp(-1.0)},
    ),
    "Avrami, complete": (
        "type = AvramiErofeevNucleation\ncoef = 2\norder = 2",
        {"conversion_degree": 1},
        {"reaction_rate": 0},
    ),
    "contracting": (
        "type = ContractingGeometry\ncoef = 2\norder = 2",
        {"conversion_degree": 0.5},
        {"reaction_rate": 0.5},
    ),
    "contracting, complete": (
        "type = ContractingGeometry\ncoef = 2\norder = 2",
        {"conversion_degree": 2},
        {"reaction_rate": 0},
    ),
    "channel": (
        "type = CylindricalChannelGeometry",
        {"solid_fraction": 0.75, "product_fraction": 0.25},
        {"inner_radius": 0.0, "outer_radius": 0.5},
    ),
    "diffusion": (
        "type = DiffusionLimitedReaction\ndiffusion_coefficient = 3\nmolar_volume = 2\nproduct_dummy_thickness = 0.5",
        {"product_inner_radius": 0.5, "solid_inner_radius": 1.0, "liquid_reactivity": 0.5, "solid_reactivity": 0.5},
        {"reaction_rate": 0.75},
    ),
    "composite volume": (
        "type = EffectiveVolume\nmass_fractions = 'a b'\ndensities = '2 r'\nreference_mass = 3\n"
        "open_volume_fraction = o",
        {"a": 0.5, "b": 0.75, "r": 1.0, "o": 0.5},
        {"composite_volume": 6.0},
    ),
    "AT1": ("type = CrackGeometricFunctionAT1", {"phase": 0.5}, {"crack": 0.5}),
    "AT2": ("type = CrackGeometricFunctionAT2", {"phase": 0.5}, {"crack": 0.25}),
    "power degradation": (
        "type = PowerDegradationFunction\npower = 2\neta = 0.5",
        {"phase": 0.5},
        {"degradation": 0.625},
    ),
    "power degradation, broken": ("type = PowerDegradationFunction\npower = 2", {"phase": 1.0}, {"degradation": 0.0}),
    "rational degradation": (
        "type = RationalDegradationFunction\npower = 2\nb1 = 1\nb2 = 2\nb3 = 2",
        # Q = 0.5 (1 + 1 + 1)
        {"phase": 0.5},
        {"degradation": 0.25 / 1.75},
    ),
    "energy": (
        f"type = LinearIsotropicStrainEnergyDensity\n{ISO}",
        {"strain": [-1.0, -1.0, -1.0, 0.0, 0.0, 1.0]},
        {"active_strain_energy_density": 680.0, "inactive_strain_energy_density": 0.0},
    ),
    "energy, split": (
        f"type = LinearIsotropicStrainEnergyDensity\ndecomposition = VOLDEV\n{ISO}",
        {"strain": [-1.0, -1.0, -1.0, 0.0, 0.0, 1.0]},
        {"active_strain_energy_density": 80.0, "inactive_strain_energy_density": 600.0},
    ),
}


def values_of(model, inputs):
    return {name: model.inputs[name].type.constant(value) for name, value in inputs.items()}


@pytest.mark.parametrize(("text", "inputs", "expected"), CASES.values(), ids=CASES)
def test_value(model, text, inputs, expected):
    m = model(f"[m]\n{text}\n[]")
    assert set(m.inputs) == set(inputs)
    found = m.evaluate(values_of(m, inputs))
    assert set(found) == set(expected)
    for name, value in expected.items():
        reference = torch.tensor(value, dtype=torch.float64)
        torch.testing.assert_close(found[name].data[..., 0], reference, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("text", "inputs", "expected"), CASES.values(), ids=CASES)
def test_derivatives_at_these_points_are_finite(model, text, inputs, expected):
    m = model(f"[m]\n{text}\n[]")
    values = values_of(m, inputs)
    parameters = m.named_parameters()
    leaves = [t.data.requires_grad_() for t in (*values.values(), *parameters.values())]
    found = m.evaluate(values, parameters)
    gradients = torch.autograd.grad(sum(f.data.sum() for f in found.values()), leaves, allow_unused=True)
    assert all(bool(torch.isfinite(g).all()) for g in gradients if g is not None)


@pytest.mark.parametrize(
    ("a", "b", "K", "tetragonal"),
    [
        # C11 = 5, C12 = 2: K = 3, (C11 - C12) / 2 = 1.5
        (("P_WAVE_MODULUS", 5.0), ("LAME_LAMBDA", 2.0), 3.0, 1.5),
        (("BULK_MODULUS", 3.0), ("POISSONS_RATIO", 2.0 / 7.0), 3.0, 1.5),
        (("YOUNGS_MODULUS", 27.0 / 7.0), ("POISSONS_RATIO", 2.0 / 7.0), 3.0, 1.5),
    ],
)
def test_cubic_tensor(model, a, b, K, tetragonal):
    m = model(
        f"[m]\ntype = CubicElasticityTensor\ncoefficients = '{a[1]} 4 {b[1]}'\n"
        f"coefficient_types = '{a[0]} SHEAR_MODULUS {b[0]}'\n[]"
    )
    C = m.evaluate({})["m"].data[..., 0]
    c11, c12 = K + 4.0 / 3.0 * tetragonal, K - 2.0 / 3.0 * tetragonal
    expected = torch.zeros(6, 6, dtype=torch.float64)
    expected[:3, :3] = c12
    for i in range(3):
        expected[i, i] = c11
        expected[i + 3, i + 3] = 8.0
    torch.testing.assert_close(C, expected, rtol=1e-13, atol=1e-13)


def test_a_cubic_tensor_needs_a_shear_modulus(model):
    with pytest.raises(InputFileError, match="one of the three must be SHEAR_MODULUS"):
        model(
            "[m]\ntype = CubicElasticityTensor\ncoefficients = '1 0.3 2'\n"
            "coefficient_types = 'YOUNGS_MODULUS POISSONS_RATIO BULK_MODULUS'\n[]"
        )


def test_an_isotropic_tensor_acts_like_hooke(model):
    tensor = model(f"[m]\ntype = IsotropicElasticityTensor\nC = C\n{ISO}\n[]").evaluate({})["C"]
    strain = SR2.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    stress = model(f"[m]\ntype = LinearIsotropicElasticity\n{ISO}\n[]").evaluate({"strain": strain})["stress"]
    torch.testing.assert_close((tensor @ strain).data, stress.data)


def test_rotating_a_cubic_crystal_by_a_quarter_turn_changes_nothing(model):
    m = model(
        "[C]\ntype = CubicElasticityTensor\ncoefficients = '5 2 4'\n"
        "coefficient_types = 'P_WAVE_MODULUS LAME_LAMBDA SHEAR_MODULUS'\n[]\n"
        "[m]\ntype = GeneralElasticity\nelastic_stiffness_tensor = C\n[]\n"
        "[all]\ntype = ComposedModel\nmodels = 'C m'\n[]",
        "all",
    )
    strain = SR2.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    stresses = [
        m.evaluate({"strain": strain, "orientation": MRP.constant([0.0, 0.0, z])})["stress"].data
        for z in (0.0, math.tan(math.pi / 8.0), 0.2)
    ]
    torch.testing.assert_close(stresses[0], stresses[1], rtol=1e-12, atol=1e-12)
    assert not torch.allclose(stresses[0], stresses[2])


def test_spectral_split_is_refused(model):
    with pytest.raises(InputFileError, match="spectral decomposition is not supported"):
        model(f"[m]\ntype = LinearIsotropicStrainEnergyDensity\ndecomposition = SPECTRAL\n{ISO}\n[]")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("type = VecComponents\nfrom = v\nto = 'a b'", "expected three names, got 2"),
        ("type = ScalarMultiplication\nfrom = 'a b c'\nto = d\nreciprocal = 'true false'", "expected 1 or 3 of true"),
        ("type = ScalarMultiplication\nfrom = 'a'\nto = d\nreciprocal = 'maybe'", "got 'maybe'"),
        ("type = ScalarPNorm\nfrom = 'a b c'\nto = d\nexponent = 2\nweights = '1 2'", "expected 1 or 3 weights"),
        (
            "type = EffectiveVolume\nmass_fractions = 'a b'\ndensities = '1'\nreference_mass = 1",
            "expected 2 densities, got 1",
        ),
        (
            "type = OrthotropicLinearTraction\nnormal_penetration = p\nnormal_stiffness = 1\ntangential_stiffness = 1",
            "needs the option 'penalty_stiffness'",
        ),
        (
            "type = BrooksCoreyCapillaryPressure\nthreshold_pressure = 1\nexponent = 1\nlog_extension = true",
            "expected a saturation between 0 and 1",
        ),
        ("type = ConstantExtrapolationPredictor\nunknowns_Scalar = x\ncold = 'x'", "expected unknown:variable"),
        ("type = LinearExtrapolationPredictor\nunknowns_Scalar = x\ncold = 'y:z'", "unknown unknown 'y'"),
        (
            "type = IsotropicElasticityTensor\ncoefficients = '1 2'\ncoefficient_types = 'BULK_MODULUS BULK_MODULUS'",
            "expected two different coefficient types",
        ),
    ],
)
def test_what_is_wrong_is_said(model, text, message):
    with pytest.raises(InputFileError, match=message) as error:
        model(f"[m]\n{text}\n[]")
    assert "law.i:" in str(error.value) and "[Models]/[m]" in str(error.value)


PARAMETER = "[m]\ntype = LinearKinematicHardening\nhardening_modulus = {}\n[]\n"


def test_a_parameter_is_a_number_a_variable_or_a_model(model):
    strain = SR2.constant(E6)
    number = model(PARAMETER.format("2"))
    assert list(number.named_parameters()) == ["m.H"]
    variable = model(PARAMETER.format("H"))
    assert set(variable.inputs) == {"kinematic_plastic_strain", "H"} and not variable.named_parameters()
    law = "[H]\ntype = ArrheniusParameter\nreference_value = 2\nactivation_energy = 0\nideal_gas_constant = 1\n[]\n"
    other = model(PARAMETER.format("H") + law + "[all]\ntype = ComposedModel\nmodels = 'm'\n[]", "all")
    assert set(other.inputs) == {"kinematic_plastic_strain", "temperature"}
    assert set(other.named_parameters()) == {"H.p0", "H.Q"}
    given = {"kinematic_plastic_strain": strain, "H": Scalar.constant(2.0), "temperature": Scalar.constant(300.0)}
    for m in (number, variable, other):
        assert m.evaluate({name: given[name] for name in m.inputs})["back_stress"].data[:3, 0].tolist() == [
            2.0,
            4.0,
            6.0,
        ]


BATCHED = [
    "type = ChabochePlasticHardening\nback_stress = X\nC = 3\ng = 2\nA = 0.5\na = 3",
    "type = R2Multiplication\nto = C\ninvert_A = true",
    "type = GeneralElasticity\nelastic_stiffness_tensor = C",
    "type = SalehaniIraniTraction\nnormal_characteristic_length = 1\ntangential_characteristic_length = 1\n"
    "normal_strength = 3\nshear_strength = 5",
    "type = MixedControlSetup",
]


@pytest.mark.parametrize("text", BATCHED)
def test_rows_and_sub_batches_do_not_mix(model, text):
    m = model(f"[m]\n{text}\n[]")
    generator = torch.Generator().manual_seed(0)
    data = {
        name: torch.rand(*v.type.base_shape, 2, 5, dtype=torch.float64, generator=generator)
        for name, v in m.inputs.items()
    }
    whole = m.evaluate({name: m.inputs[name].type(x, 1) for name, x in data.items()})
    for site in range(2):
        for row in range(5):
            one = m.evaluate({name: m.inputs[name].type(x[..., site, row : row + 1]) for name, x in data.items()})
            for name, value in whole.items():
                torch.testing.assert_close(value.data[..., site, row], one[name].data[..., 0], rtol=1e-14, atol=1e-14)


def test_every_tensor_type_can_be_copied(model):
    for name in ("Scalar", "Vec", "R2", "SR2", "SSR4", "WR2", "MRP", "MillerIndex"):
        m = model(f"[m]\ntype = Copy{name}\nfrom = a\nto = b\n[]")
        value = TYPES[name](torch.ones(*TYPES[name].base_shape, 3, dtype=torch.float64))
        assert type(m.evaluate({"a": value})["b"]) is TYPES[name]
