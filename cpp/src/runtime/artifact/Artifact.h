// An artifact that fits this machine, every file of it verified.
#pragma once

#include <string>

#include "artifact/Metadata.h"
#include "matlaw/load_model.h"
#include "weights/FileView.h"

namespace matlaw::artifact
{
/// Where one graph's code is.
struct GraphFile
{
  /// Absolute or relative to the process, with extension
  std::string path;
  bool native = false;
};

/// What opening an artifact yields.
struct Artifact
{
  Metadata metadata;
  std::string folder;
  /// Where its graphs run; one of CUDA has its index
  at::Device device = at::kCPU;
  at::ScalarType dtype = at::kDouble;
  /// File of each graph that the segments use, keyed by stem
  std::map<std::string, GraphFile> graphs;
  /// The file of the weights outside the code, and its bytes; empty where there are none
  std::string weight_file;
  weights::FileView weights;
};

/// Opens and checks an artifact, in this order: JSON and schema version, name, torch version, device and dtype, CPU, C
/// library, seal of the metadata, consistency of the metadata, every file. Throws FatalError naming the reason and the
/// remedy.
Artifact open_artifact(const std::string & folder, const std::string & name, const LoadOptions & options);
}
