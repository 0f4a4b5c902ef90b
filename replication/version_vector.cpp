#include "replication/version_vector.h"

#include "base/check.h"

namespace witan::replication {

WriterIndex WriterTable::intern(std::string_view name) {
  if (const auto at = index_.find(name); at != index_.end()) return at->second;
  WITAN_CHECK(names_.size() < kMaxWriters, "a space has fewer writers");
  const auto index = static_cast<WriterIndex>(names_.size());
  names_.emplace_back(name);
  index_.emplace(name, index);
  return index;
}

std::optional<WriterIndex> WriterTable::find(std::string_view name) const {
  const auto at = index_.find(name);
  if (at == index_.end()) return std::nullopt;
  return at->second;
}

VectorClock withNames(const VersionVector& vector, const WriterTable& writers) {
  VectorClock clock;
  for (WriterIndex w = 0; w < vector.end(); ++w) clock.set(writers.name(w), vector.at(w));
  return clock;
}

}  // namespace witan::replication
