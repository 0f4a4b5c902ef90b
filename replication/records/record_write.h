// recordWrite: the write of a record, encoded and checked once: a commit need not read its body again to know that it
// is one of its kind. Pure functions, any thread.
#pragma once

#include <string>
#include <utility>

#include "replication/records/records.h"
#include "replication/space.h"

namespace witan::replication {

// Of which kind a body is: for those that are written this way.
template <class Body>
struct KindOf;
template <>
struct KindOf<BatchBody> {
  static constexpr Kind value = Kind::batch;
};
template <>
struct KindOf<JournalBody> {
  static constexpr Kind value = Kind::journal;
};
template <>
struct KindOf<OperationBody> {
  static constexpr Kind value = Kind::operation;
};

class CheckedWrites {
 public:
  template <class Body>
  static Result<Write> of(std::string key, const Body& body) {
    WITAN_TRY(bytes, encodeRecord(body));
    return Write{KindOf<Body>::value, std::move(key), std::move(bytes), false, BodyCheck(true)};
  }
};

// `key`: as Write wants it. Errors: as encodeRecord.
template <class Body>
Result<Write> recordWrite(std::string key, const Body& body) {
  return CheckedWrites::of(std::move(key), body);
}

}  // namespace witan::replication
