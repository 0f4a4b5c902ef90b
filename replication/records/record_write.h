// recordWrite: the write of a record, encoded and checked once. A commit then does not read the body again to check it.
// Pure functions, any thread.
#pragma once

#include <string>
#include <utility>

#include "replication/records/records.h"
#include "replication/space.h"

namespace witan::replication {

class CheckedWrites {
 public:
  template <class Body>
  static Result<Write> of(std::string key, const Body& body) {
    WITAN_TRY(bytes, encodeRecord(body));
    return Write{Body::recordKind, std::move(key), std::move(bytes), false, BodyCheck(true)};
  }
};

// `key`: as Write wants it. Errors: as encodeRecord.
template <class Body>
Result<Write> recordWrite(std::string key, const Body& body) {
  return CheckedWrites::of(std::move(key), body);
}

}  // namespace witan::replication
