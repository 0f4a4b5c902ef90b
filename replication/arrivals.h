// Arrivals: the records of one kind of which a space got a version since the last look, found by walking over what has
// come instead of over everything. What an index of a space's records is kept by.
//
// Not thread-safe, as the space. One for each space and reader; the caller passes the same space every time.
#pragma once

#include <functional>
#include <optional>

#include "replication/space.h"

namespace witan::replication {

class Arrivals {
 public:
  explicit Arrivals(Kind kind) : kind_(kind) {}

  // Visits each such record, perhaps several times; the visitor changes nothing. At the first look, and when older
  // versions have come, all of them. Whether a version may have gone without a newer one in its place: then the caller
  // looks again at what it knows. O(versions that have come).
  bool look(Space& space, const std::function<void(const Record&)>& visit);

 private:
  const Kind kind_;
  VersionVector walked_;
  std::optional<std::uint64_t> changes_;  // of the space at the last look
  std::uint64_t outOfOrder_ = 0, losses_ = 0;
};

}  // namespace witan::replication
