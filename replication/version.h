// A version: what one commit wrote under one key. The views of the record kinds are pure functions of the versions that
// a replica holds for a key; replication/record_table.h keeps them.
#pragma once

#include <string>

#include "replication/vector_clock.h"

namespace witan::replication {

struct Version {
  Dot dot;
  // What its author had seen of this key, with the dot itself; only the dot once everybody has all of it (stripping).
  VectorClock context;
  std::string body;  // as its kind says; empty and `tombstone` for a deletion
  bool tombstone = false;

  friend bool operator==(const Version&, const Version&) = default;
};

}  // namespace witan::replication
