// What a helper elsewhere needs to understand a node, as one .tar.gz: doctor's findings, configuration, roster, a list
// of the files, and of a running node its status, peers, partitions, incidents and metrics; the end of a log if given.
//
// No keys, no tokens, no entity, no record. Whatever stands in it is searched for this device's secrets before it is
// written, and they are struck out.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace witan::node {

struct BundleOrder {
  std::filesystem::path dir, to;
  std::filesystem::path log;  // empty: none
  Time now;
};

// A .tar.gz of small files in memory: ustar (POSIX.1-1988), gzip (RFC 1952) through zlib. One thread.
class TarGz {
 public:
  explicit TarGz(Time at) : at_(at) {}
  // Requires: 1 to 100 bytes of name, relative; at most 8 GiB.
  void add(std::string_view name, std::string_view content);
  // All of it, compressed. Errors: ioFailed (no memory).
  Result<std::string> finish();

 private:
  Time at_;
  std::string tar_;
};

// Names of what is inside. Errors: conflict if `to` exists; of writing.
Result<std::vector<std::string>> writeSupportBundle(const BundleOrder& order);

// `text` without the secrets, and without anything that looks like an invitation.
std::string strikeOut(std::string text, const std::vector<std::string>& secrets);

}  // namespace witan::node
