// What an import refuses, on stderr: the first ones in full, the rest as a number. A file of a million bad lines says
// what is wrong in a hundred.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace witan::node {

class ImportErrors {
 public:
  explicit ImportErrors(bool json, std::size_t most = 100) : json_(json), most_(most) {}

  void add(const Error& error);
  std::size_t count() const { return count_; }
  // After the last: how many were not shown.
  void finish() const;

 private:
  bool json_;
  std::size_t most_, count_ = 0;
};

}  // namespace witan::node
