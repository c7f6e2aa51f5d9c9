// An artifact of a small law with hand-written native kernels, so that the runtime is tested without a compiler.
//
//     trial = K strain                                        forward
//     y = x,  x y = s + c sum(trial)                          implicit, unknowns x and y, starting from x~1 and 1
//     stress = gain (1 + x) trial                             forward, `gain` promoted
//
// So x = sqrt(s + c sum(trial)); a row with a negative root argument has no solution and Newton gives it up.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "matlaw/aoti/load_model.h"

namespace matlaw::toy
{
/// A folder that is removed at the end.
class TemporaryFolder
{
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder & operator=(const TemporaryFolder &) = delete;
  const std::filesystem::path & path() const { return _path; }

private:
  std::filesystem::path _path;
};

std::string read_file(const std::filesystem::path & path);
void write_file(const std::filesystem::path & path, const std::string & text);

/// Writes metadata.json with a valid seal.
void write_metadata(const std::filesystem::path & folder, nlohmann::json metadata);
nlohmann::json read_metadata_json(const std::filesystem::path & folder);

using Words = std::vector<std::string>;

/// For EXPECT_PRED_FORMAT2: every one of `words` occurs in `text`.
::testing::AssertionResult mentions(const char * text_source, const char * words_source, const std::string & text,
                                    const Words & words);

/// What load_model throws for `path`; fails the test when it throws nothing or something that is not a FatalError.
std::string load_error(const std::string & path, const std::string & name = "", const LoadOptions & options = {});

/// The message of the FatalError that `action` throws.
std::string fatal_error(const std::function<void()> & action);

/// The toy law's artifact: folder() / metadata.json, and the stub beside it.
class ToyLaw
{
public:
  explicit ToyLaw(at::ScalarType dtype = at::kDouble);
  std::filesystem::path folder() const { return _temporary.path() / "toy"; }
  std::filesystem::path stub() const { return _temporary.path() / "toy_aoti.i"; }
  std::unique_ptr<aoti::Model> load(const LoadOptions & options = {}) const;

  /// Changes metadata.json and seals it again.
  void edit(const std::function<void(nlohmann::json &)> & change) const;
  /// trial = gain K strain, x y = gain s + c sum(trial), stress = gain (1 + x) trial, with derivatives by gain.
  void promote_gain_everywhere() const;

private:
  TemporaryFolder _temporary;
};

/// Inputs of `rows` solvable rows, different in each.
TensorMap toy_inputs(std::int64_t rows, at::ScalarType dtype = at::kDouble);

/// Outputs in closed form.
TensorMap toy_expected(const TensorMap & inputs, double gain = 1.0);

/// Same bits, NaN equal to NaN.
bool same_bits(const at::Tensor & a, const at::Tensor & b);
}
