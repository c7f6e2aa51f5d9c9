// What metadata.json says (docs/architecture.md, section 5), as typed records.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "matlaw/Model.h"
#include "matlaw/solve/Newton.h"

namespace matlaw::artifact
{
inline constexpr std::int64_t schema_version = 13;

struct Variable
{
  /// What segments and derivatives call it
  std::string name;
  /// What callers call it: differs where the boundary was renamed
  std::string reported;
  std::string type;
  std::vector<std::int64_t> base_shape;
  std::vector<std::int64_t> sub_batch_shape;
  /// (*sub_batch, *base), the axes behind the batch in the public layout
  std::vector<std::int64_t> public_shape() const;
  /// Components of one site
  std::int64_t base_size() const;
  std::int64_t size = 0;
};

struct Parameter : Variable
{
  std::vector<double> value;
  /// Callers give and get integers (int64); graphs take them as numbers like all others
  bool integers = false;
};

/// A derivative of an output by an input, or by a parameter.
struct Pair
{
  std::string output;
  std::string input;
  /// One block for all rows
  bool batch_independent = false;
};

/// The derivative blocks of a forward segment.
struct JvpGraph
{
  std::string stem;
  std::vector<Pair> pairs;
};

struct PredictorGraph
{
  std::string stem;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

/// A variable's place in the flat vector of a segment's unknowns or givens.
struct Slice
{
  std::string name;
  std::int64_t size = 0;
  std::int64_t offset = 0;
};

struct GivenGraph
{
  std::string stem;
  std::vector<Slice> givens;
};

/// The derivatives of an implicit segment's residual: by its unknowns, and by parameters.
struct ParameterGraph
{
  std::string stem;
  std::vector<Slice> parameters;
};

struct Segment
{
  bool implicit = false;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> parameters;
  std::vector<std::string> weights;

  // forward
  std::string value;
  std::optional<JvpGraph> jvp;
  /// Blocks by parameters: the `input` of its pairs is a parameter
  std::optional<JvpGraph> param_jvp;

  // implicit
  /// Name of the implicit update in the input file
  std::string update;
  /// As compiled
  solve::NewtonConfig solver;
  std::int64_t size = 0;
  std::vector<Slice> unknowns;
  std::vector<std::string> givens;
  std::string residual;
  /// Empty where nothing needs an assembled matrix
  std::string jacobian;
  /// Of a Krylov solve, and of one with a preconditioner; else empty
  std::string matvec;
  std::string precond_setup;
  /// Native kernels that solve without a matrix: du and b; the sensitivities by the givens of `jacobian_given`. Absent
  /// where the compiler saw no gain
  std::string newton_step;
  std::optional<GivenGraph> sensitivity;
  /// How the matrices of Newton steps, and of derivatives by inputs and by parameters, are taken apart
  solve::LinearStructure structure, input_sensitivity, param_sensitivity;
  std::optional<PredictorGraph> predictor;
  std::optional<GivenGraph> jacobian_given;
  std::optional<ParameterGraph> dr_dparam;

  /// The same with the blocks that the derivative of a chain of substeps needs; absent where the others have all of
  /// them
  std::optional<JvpGraph> substep_jvp, substep_param_jvp;
  std::optional<GivenGraph> substep_jacobian_given;
  std::optional<ParameterGraph> substep_dr_dparam;

  /// Stems of all graphs that this runtime evaluates.
  std::vector<std::string> stems() const;
  /// Stems of those that derivatives of substeps need besides. An artifact may lack their files.
  std::vector<std::string> substep_stems() const;
  /// Stems of those that are native kernels or nothing.
  std::vector<std::string> native_stems() const;
};

/// One folder `<device>/<dtype>`.
struct Build
{
  std::vector<std::string> backends;
  std::vector<std::string> cpu_targets;
  /// What `<stem>.pt2` is for
  std::string inductor_cpu_target;
  /// All targets with .pt2 graphs; those of another target are in `<stem>.<target>.pt2`
  std::vector<std::string> inductor_cpu_targets;
  /// Instruction sets that code for the target "native" needs
  std::vector<std::string> cpu_features;
  std::string glibc_floor;
};

struct FileRecord
{
  std::string sha256;
  std::int64_t bytes = 0;
};

struct Metadata
{
  std::string name;
  std::string torch_version;
  std::string matlaw_version;
  std::vector<Variable> inputs;
  std::vector<Variable> outputs;
  std::vector<Parameter> parameters;
  std::vector<Pair> derivatives;
  /// The `input` of these is a parameter
  std::vector<Pair> param_derivatives;
  std::vector<StatePair> state_pairs;
  /// Inputs (t, t~1) that are time and its old value: t has to advance
  std::vector<std::pair<std::string, std::string>> times;
  std::vector<Segment> segments;
  /// Settings of the implicit segments, in order, as compiled
  std::vector<solve::NewtonConfig> solvers() const;
  std::map<std::string, Variable> variables;
  std::map<std::string, Build> builds;
  std::map<std::string, FileRecord> files;
  /// Weights outside the compiled code, and the file of them for each dtype
  std::vector<Variable> weights;
  std::map<std::string, std::string> weight_files;
};

/// Reads `<folder>/metadata.json`. Throws FatalError for text that is not JSON, another schema version, a missing key
/// or one of the wrong kind; names the key and the remedy.
Metadata read_metadata(const std::string & folder);

/// The input file that a law was compiled from.
struct Source
{
  std::string file;
  std::string text;
};

/// The source in `<folder>/metadata.json`. Throws FatalError as read_metadata() does.
Source read_source(const std::string & folder);

/// Throws FatalError when `<folder>/metadata.json` is not the text that the compiler sealed.
void check_seal(const std::string & folder);

/// Throws FatalError when names, sizes and shapes contradict each other.
void check_consistency(const Metadata & metadata, const std::string & folder);
}
