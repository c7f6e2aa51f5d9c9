"""Names that MOOSE knows and matlaw-fe may not: only used to word errors."""

from __future__ import annotations

#: by system: types of MOOSE and its solid mechanics module
MOOSE_TYPES: dict[str, frozenset[str]] = {
    "Mesh": frozenset(
        """FileMesh FileMeshGenerator GeneratedMesh GeneratedMeshGenerator CartesianMeshGenerator ImageMeshGenerator
        StitchedMeshGenerator MeshExtruderGenerator AdvancedExtruderGenerator ExtraNodesetGenerator
        SideSetsFromPointsGenerator SideSetsFromNormalsGenerator SideSetsAroundSubdomainGenerator
        SideSetsBetweenSubdomainsGenerator ParsedGenerateSideset ParsedElementDeletionGenerator
        BoundingBoxNodeSetGenerator RenameBlockGenerator RenameBoundaryGenerator TransformGenerator
        ConcentricCircleMeshGenerator AnnularMeshGenerator DistributedRectilinearMeshGenerator CombinerGenerator
        ElementDeletionGenerator LowerDBlockFromSidesetGenerator MeshDiagnosticsGenerator SphereMeshGenerator
        SubdomainPerElementGenerator PlaneDeletionGenerator RefineBlockGenerator XYDelaunayGenerator""".split()
    ),
    "Functions": frozenset(
        """PiecewiseConstant PiecewiseBilinear PiecewiseMultilinear PiecewiseMulticonstant ConstantFunction
        CompositeFunction LinearCombinationFunction ParsedGradFunction SolutionFunction ImageFunction
        Axisymmetric2D3DSolutionFunction SplineFunction VectorPostprocessorFunction TimeRampFunction
        CoarsenedPiecewiseLinear ParsedVectorFunction""".split()
    ),
    "BCs": frozenset(
        """NeumannBC FunctionNeumannBC PenaltyDirichletBC FunctionPenaltyDirichletBC PresetBC FunctionPresetBC
        PresetDisplacement PresetVelocity PresetAcceleration CoupledPressureBC DisplacementAboutAxis
        InclinedNoDisplacementBC PenaltyInclinedNoDisplacementBC
        StickyBC Torque InteractionIntegralBenchmarkBC ADDirichletBC ADPressure
        ADFunctionDirichletBC MatchedValueBC ConvectiveFluxBC VacuumBC PostprocessorDirichletBC Periodic""".split()
    ),
    "Materials": frozenset(
        """ComputeFiniteStrain ComputePlaneSmallStrain ComputePlaneFiniteStrain ComputeAxisymmetricRZSmallStrain
        ComputeLagrangianStrain ComputeIsotropicElasticityTensor ComputeElasticityTensor ComputeLinearElasticStress
        ComputeFiniteStrainElasticStress ComputeMultipleInelasticStress ComputeMultiPlasticityStress
        IsotropicPlasticityStressUpdate IsotropicPowerLawHardeningStressUpdate PowerLawCreepStressUpdate
        ComputeEigenstrain ComputeThermalExpansionEigenstrain AbaqusUMATStress GenericConstantMaterial ParsedMaterial
        GenericFunctionMaterial ComputeInstantaneousThermalExpansionFunctionEigenstrain
        ComputeStrainIncrementBasedStress ADComputeSmallStrain
        ADComputeLinearElasticStress CauchyStressFromNEML2Receiver""".split()
    ),
    "Kernels": frozenset(
        """Diffusion TimeDerivative Gravity InertialForce BodyForce Reaction HeatConduction ADStressDivergenceTensors
        WeakPlaneStress StressDivergenceRZTensors DynamicStressDivergenceTensors CoupledForce NullKernel
        TotalLagrangianStressDivergence UpdatedLagrangianStressDivergence""".split()
    ),
    "AuxKernels": frozenset(
        """MaterialStdVectorAux MaterialRankTwoTensorAux MaterialRankFourTensorAux FunctionAux ParsedAux ConstantAux
        SelfAux NormalizationAux DomainIntegralQFunction QuotientAux SpatialUserObjectAux TagVectorAux ElementLengthAux
        ProcessorIDAux AccumulateAux CylindricalRankTwoAux RankFourAux NewmarkVelAux""".split()
    ),
    "Postprocessors": frozenset(
        """AreaPostprocessor VolumePostprocessor SideAverageValue SideIntegralVariablePostprocessor
        ElementIntegralVariablePostprocessor ElementIntegralMaterialProperty ElementAverageMaterialProperty PointValue
        NodalVariableValue NodalL2Norm ElementL2Error ElementL2Norm Receiver FunctionValuePostprocessor NumDOFs NumElems
        NumNodes NumLinearIterations PerfGraphData MemoryUsage ParsedPostprocessor DifferencePostprocessor
        ScalePostprocessor LinearCombinationPostprocessor MaterialTimeStepPostprocessor CumulativeValuePostprocessor
        ADSidesetReaction TimePostprocessor Residual FindValueOnLine ElementH1Error""".split()
    ),
    "TimeStepper": frozenset(
        """FunctionDT PostprocessorDT SolutionTimeAdaptiveDT TimeSequenceStepper CSVTimeSequenceStepper LogConstantDT
        ExodusTimeSequenceStepper FixedPointIterationAdaptiveDT DT2 AB2PredictorCorrector CompositionDT""".split()
    ),
    "Executioner": frozenset("Steady Eigenvalue NonlinearEigen InversePowerMethod PIMPLE SIMPLE".split()),
    "Predictor": frozenset(["AdamsPredictor"]),
    "Outputs": frozenset(
        """Checkpoint GMVOutput Nemesis Tecplot VTK VTKOutput XDA XDR JSON Gnuplot DOFMap ControlOutput PerfGraphOutput
        SolutionHistory TopResidualDebugOutput VariableResidualNormsDebugOutput MaterialPropertyDebugOutput
        XMLOutput ICEUpdater""".split()
    ),
}

#: top-level blocks of MOOSE that matlaw-fe does not have
MOOSE_BLOCKS = frozenset(
    """Adaptivity Bounds Constraints Contact Controls Correctors DGKernels Dampers Debug DeprecatedBlock DiracKernels
    Distributions FVBCs FVKernels FunctorMaterials GrayDiffuseRadiation ICs InterfaceKernels MultiApps NodalKernels
    NEML2 Positions Reporters Samplers ScalarKernels Times Transfers Triangulations UserObjects
    VectorPostprocessors XFEM AuxScalarKernels ThermalContact DomainIntegral""".split()
)

#: parameters that MOOSE's objects have and ours may not
MOOSE_PARAMETERS = frozenset(
    """control_tags enable use_displaced_mesh execute_on prop_getter_suffix matrix_tags vector_tags extra_vector_tags
    extra_matrix_tags absolute_value_vector_tags diag_save_in seed implicit outputs output_properties declare_suffix
    constant_on computation boundary compute scheme automatic_scaling compute_scaling_once picard_max_its
    fixed_point_max_its steady_state_detection steady_state_tolerance abort_on_solve_fail use_multiapp_dt reset_dt
    force_step_every_function_point timestep_limiting_function max_function_change timestep_limiting_postprocessor
    reject_large_step reject_large_step_threshold time_t time_dt linear_iteration_ratio time_periods
    eigenstrain_names decomposition_method planar_formulation base_name use_finite_deform_jacobian temperature
    thermal_eigenstrain_name out_of_plane_strain constrain_types additional_generate_output_family
    additional_generate_output_order automatic_eigenstrain_names scalar_out_of_plane_strain
    use_automatic_differentiation second_order parallel_type partitioner uniform_refine
    construct_side_list_from_node_list block_id block_name
       initial_condition scaling components array eigen initial_from_file_var sync_times start_step end_step
    time_step_interval interval minimum_time_interval sync_only append_date gauss_lobatto_grid elem_type show hide
    additional_execute_on execute_vector_postprocessors_on execute_postprocessors_on show_material_properties
    elemental_as_nodal output_dimension discontinuous sequence""".split()
)
