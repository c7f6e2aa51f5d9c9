// What moves over the substeps of a compiled law's increment, and the graphs that its derivatives need then.
#pragma once

#include "artifact/Metadata.h"
#include "matlaw/solve/Substepping.h"

namespace matlaw::aoti
{
/// Forces, inputs `x` whose old value `x~1` is an input too, are ramped; every old value is carried from substep to
/// substep, as a host's commit does it; other inputs are held.
solve::Increment increment_of(const artifact::Metadata & metadata);

/// The same law with the derivative graphs that substeps need in the place of the usual ones: with blocks by forces,
/// old forces and old states, of outputs and states.
artifact::Metadata with_substep_graphs(artifact::Metadata metadata);
}
