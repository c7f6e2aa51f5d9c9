# The viscoplastic law with iterative linear solves, also of its derivatives by inputs.
!include ../../examples/models/j2_viscoplastic.i

[Solvers]
  [blocks]
    type = BlockJacobiPreconditioner
  []
  [iterative]
    type = GMRES
    rel_tol = 1e-9
  []
[]
