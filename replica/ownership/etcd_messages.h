// What is asked of etcd and what it says, as values: the part of its v3 contract that Witan needs (leases, transactions
// that compare revisions, ranges, a watch). The engine makes requests (replica/ownership/etcd_engine.h), the node
// carries them to a server, the simulator to a model of one (sim/etcd_model.h).
//
// A request without an answer may have been applied or not, also later; nothing here promises more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/reflect.h"

namespace witan::node {

struct EtcdKeyValue {
  std::string key;
  std::string value;
  std::uint64_t created = 0;   // revision
  std::uint64_t modified = 0;  // revision
  std::uint64_t lease = 0;     // 0: none
  friend bool operator==(const EtcdKeyValue&, const EtcdKeyValue&) = default;
};

// Keys from `key` up to but without `end`; an empty `end`: that key alone.
struct EtcdKeys {
  std::string key;
  std::string end;
  bool has(const std::string& k) const { return end.empty() ? k == key : k >= key && k < end; }
};

// The key's create revision (0: there is no such key) equals this, or is above it.
struct EtcdCompare {
  std::string key;
  std::uint64_t created = 0;
  bool above = false;
};

WITAN_ENUM(EtcdAct, put, remove, range)

struct EtcdOp {
  EtcdAct act = EtcdAct::range;
  EtcdKeys keys;
  std::string value;        // put
  std::uint64_t lease = 0;  // put
  std::size_t limit = 0;    // range; 0: all
};

WITAN_ENUM(EtcdCall, grant, keepAlive, txn, watch)

struct EtcdRequest {
  std::uint64_t id = 0;  // names the answer; rises
  EtcdCall call = EtcdCall::txn;
  std::int64_t ttlMs = 0;   // grant
  std::uint64_t lease = 0;  // keepAlive
  // txn: `then` if all of them hold, else `otherwise`; one revision for all puts and removals.
  std::vector<EtcdCompare> compares;
  std::vector<EtcdOp> then, otherwise;
  // watch: every change from this revision on, in order, until the connection ends. Answers bear this request's id.
  EtcdKeys keys;
  std::uint64_t from = 0;
};

WITAN_ENUM(EtcdError, none,
           unavailable,  // not applied
           noLease,      // it has run out, or never was
           compacted,    // the watch wants what is forgotten; it has ended
           tooLarge)     // not applied, nor will it be: the server takes no request of this size

struct EtcdChange {
  bool removed = false;
  EtcdKeyValue at;  // removed: key and `modified` only
};

struct EtcdAnswer {
  std::uint64_t id = 0;
  EtcdError error = EtcdError::none;
  std::uint64_t revision = 0;                      // of the store when it answered
  bool succeeded = false;                          // txn: all compares held
  std::vector<std::vector<EtcdKeyValue>> results;  // txn: of each operation of the branch; puts and removals: empty
  std::uint64_t lease = 0;                         // grant
  std::vector<EtcdChange> changes;                 // watch
};

// The end of the keys that begin with `prefix`. Requires: it ends with a byte below 0xff.
inline std::string etcdPrefixEnd(std::string prefix) {
  ++prefix.back();
  return prefix;
}

}  // namespace witan::node
