// Loading a law and asking what it offers, for hosts that include no torch header.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace matlaw
{
class Model;
}

namespace matlaw::host
{
/// A variable or parameter of a law.
struct LawVariable
{
  std::string name;
  /// "Scalar", "Vec", "R2", "SR2", "SSR4" ...; of a parameter the type that its shape stands for
  std::string type;
  std::vector<std::int64_t> base_shape;
  std::vector<std::int64_t> sub_batch_shape;
  /// Number of components of one value
  std::int64_t size() const;
};

/// A variable and its value at the previous accepted step.
struct LawState
{
  std::string current;
  std::string old;
  /// true: an output of the law feeds `old`; false: the host's own input `current` does (time, strain ...)
  bool is_state = true;
  /// Initial value of `old`
  std::vector<double> initial;
};

/// What a law takes and gives.
struct LawDescription
{
  /// All inputs, old variables among them
  std::vector<LawVariable> inputs;
  std::vector<LawVariable> outputs;
  std::vector<LawVariable> parameters;
  /// Derivatives `(output, input)` that it can give
  std::vector<std::pair<std::string, std::string>> derivatives;
  std::vector<LawState> states;
  /// Inputs (t, t~1) that are time and its old value
  std::vector<std::pair<std::string, std::string>> times;

  /// The variable of this name, or a null pointer.
  const LawVariable * input(const std::string & name) const;
  const LawVariable * output(const std::string & name) const;
  const LawVariable * parameter(const std::string & name) const;
  /// The pair of which `old` is the old variable, or a null pointer.
  const LawState * state_of(const std::string & old) const;
  /// True when `name` is the old variable of a pair.
  bool is_old(const std::string & name) const { return state_of(name) != nullptr; }
  bool has_derivative(const std::string & output, const std::string & input) const;

  /// The strain input or stress output: `given`, or where that is empty the only variable of type SR2 that fits: one
  /// with a derivative goes before others, then one that is called strain or stress. Throws FatalError, listing the
  /// candidates.
  std::string strain(const std::string & given) const;
  std::string stress(const std::string & given) const;

  /// "it has the inputs strain (SR2), t (Scalar), the outputs ...", for messages.
  std::string text() const;
};

LawDescription describe(const Model & model);

/// How to load a law. Texts are those of matlaw::LoadOptions.
struct LawOptions
{
  /// "auto", "aoti" or "eager"
  std::string runtime = "auto";
  /// "cpu", "cuda", "cuda:1" ...
  std::string device = "cpu";
  /// "auto", "native" or "inductor"
  std::string backend = "auto";
  /// Threads of one call; 0: as the environment says
  std::int64_t threads = 0;
  /// Python files, package folders or dotted names with further model types
  std::vector<std::string> extensions = {};
};

/// Loads the model `name` of a stub, artifact folder, metadata.json or input file. Throws FatalError, naming the
/// reason.
std::shared_ptr<Model> load_law(const std::string & path, const std::string & name, const LawOptions & options = {});

/// Why rows of the last call failed in which any did: "iteration limit of 25 reached with |r| = 0.0031"; empty when the
/// law does not tell.
std::string why_failed(const Model & model);
}
