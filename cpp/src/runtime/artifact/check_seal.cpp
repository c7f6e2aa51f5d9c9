#include "artifact/Metadata.h"
#include "artifact/file_bytes.h"
#include "artifact/metadata_file.h"
#include "support/sha256.h"

namespace matlaw::artifact
{
void check_seal(const std::string & folder)
{
  const auto path = metadata_path(folder);
  auto text = read_bytes(path);
  const auto refuse = [&](const std::string & why)
  {
    throw FatalError(path + " was edited or damaged after it was compiled: " + why +
                     ". Change the input file and regenerate the artifact with matlaw-compile.");
  };
  // Inside a JSON string a quote is escaped, so the key cannot be mistaken for text of the embedded source.
  const std::string key = "\"metadata_sha256\"";
  const auto at = text.find(key);
  if (at == std::string::npos)
    refuse("its seal 'metadata_sha256' is missing");
  auto start = text.find_first_not_of(" \t\r\n", at + key.size());
  if (start != std::string::npos && text[start] == ':')
    start = text.find_first_not_of(" \t\r\n", start + 1);
  if (start == std::string::npos || text[start] != '"' || start + 66 > text.size() || text[start + 65] != '"')
    refuse("its seal 'metadata_sha256' is not a string of 64 hex digits");
  const auto digest = text.substr(start + 1, 64);
  text.replace(start + 1, 64, 64, '0');
  if (support::sha256(text) != digest)
    refuse("its text does not match its seal 'metadata_sha256'");
}
}
