// Kinematic hypotheses: how the strain and stress of a host with fewer than six components map onto a law's.
#pragma once

#include <string>

#include "matlaw/Span.h"

namespace matlaw::host
{
/// Which components of strain and stress a host works with. Symmetric tensors are in Mandel components; the shear
/// component of two directions is sqrt2 times the tensor component.
///
/// | hypothesis        | components of the host   | the others                              |
/// | ----------------- | ------------------------ | --------------------------------------- |
/// | THREE_DIMENSIONAL | xx yy zz yz xz xy        |                                         |
/// | PLANE_STRAIN      | xx yy xy                 | zero strain                             |
/// | AXISYMMETRIC      | rr zz tt rz (xx yy zz xy)| zero strain                             |
/// | PLANE_STRESS      | xx yy xy                 | zero stress, their strain is solved for |
/// | UNIAXIAL_STRESS   | xx                       | zero stress, their strain is solved for |
enum class Hypothesis
{
  THREE_DIMENSIONAL,
  PLANE_STRAIN,
  AXISYMMETRIC,
  PLANE_STRESS,
  UNIAXIAL_STRESS
};

/// "3d", "plane_strain", "axisymmetric", "plane_stress" or "uniaxial_stress".
const std::string & to_text(Hypothesis hypothesis);
/// The inverse; throws FatalError for any other text.
Hypothesis hypothesis_from_text(const std::string & text);

/// The host's components, as indices into the law's six, in the order in which the host sees them.
Span<const int> host_components(Hypothesis hypothesis);
/// Components with zero stress whose strain is solved for, as indices into the law's six.
Span<const int> stress_free_components(Hypothesis hypothesis);

/// Which hypothesis a batch works with, and on which variables of the law.
struct Kinematics
{
  Hypothesis hypothesis = Hypothesis::THREE_DIMENSIONAL;
  /// The law's strain input and stress output, of type SR2; where they are empty, the only ones that fit.
  std::string strain = {};
  std::string stress = {};
  /// The stress-free components are zero when none exceeds this part of the largest component of the stress.
  double tolerance = 1e-10;
  /// Newton iterations on the strain of the stress-free components; a point that needs more is NOT_CONVERGED.
  int max_iterations = 25;
};
}
