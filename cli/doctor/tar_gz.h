// A .tar.gz of small files in memory: ustar (POSIX.1-1988), gzip (RFC 1952) through zlib.
//
// A value; one thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace witan::node {

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

}  // namespace witan::node
