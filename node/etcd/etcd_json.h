// etcd's v3 JSON gateway as text, and the form of a batch as a value in etcd: requests of
// replica/ownership/etcd_messages.h into paths and bodies, answers back.
//
// The gateway (etcd 3.4, gRPC-gateway) writes keys and values in base64 and 64-bit integers as strings, and leaves out
// every member that has its default value: a transaction that did not hold has no `succeeded`, a lease that is gone has
// no `TTL`, a range that found nothing has no `kvs`. A watch answers with one JSON object a line, without end.
//
// Pure functions and values; what does not look like this is an error that names the place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replica/ownership/etcd_messages.h"

namespace witan::node {

struct EtcdCallText {
  std::string path;
  std::string body;
};

EtcdCallText etcdCallText(const EtcdRequest& request);
// Reads nothing to speak of, but only where a majority answers: whether this member is of use.
EtcdCallText etcdProbeText();
EtcdCallText etcdRevokeText(std::uint64_t lease);

// What an answer must fit: a request without its contents.
struct EtcdExpected {
  EtcdExpected() = default;
  explicit EtcdExpected(const EtcdRequest& request);

  std::uint64_t id = 0;
  EtcdCall call = EtcdCall::txn;
  std::vector<EtcdAct> then, otherwise;
};

struct EtcdReply {
  EtcdAnswer answer;
  std::uint64_t cluster = 0;  // id of the etcd cluster that says so
};

inline constexpr std::size_t kMaxEtcdReplyBytes = 64 * 1024 * 1024;
// All values of one reply, unpacked. Eight batches are read at a time (replica/ownership/etcd_engine.cpp), of at most
// kMaxEtcdValueBytes each. A watch that is far behind may be told more at once: the session ends then, and the next one
// reads what it lacks, eight at a time.
inline constexpr std::size_t kMaxEtcdUnpackedBytes = 128 * 1024 * 1024;

// The answer to a probe: its cluster and revision. Errors: as readEtcdReply.
Result<EtcdReply> readEtcdProbe(int status, std::string_view body);
// The answer to a request with this HTTP status. noLease and tooLarge are values;
// anything else that etcd refused is an error with its words: unavailable (no leader, timed out, too busy, no space),
// unauthorised, invalidInput (not an answer of etcd).
Result<EtcdReply> readEtcdReply(const EtcdExpected& expected, int status, std::string_view body);
// One object of the stream that answers watch `id`. `created` has no changes. A watch whose revision is compacted away
// gives EtcdError::compacted; any other end of it is an error (unavailable).
Result<EtcdReply> readEtcdWatch(std::uint64_t id, std::string_view line);

// Cuts a stream into lines of at most `most` bytes.
class EtcdLines {
 public:
  explicit EtcdLines(std::size_t most) : most_(most) {}
  void put(std::string_view bytes) { input_.append(bytes); }
  // The next whole line without its end, good until the next call; empty: none yet. Errors: a line that is too long.
  Result<std::string_view> next();

 private:
  std::size_t most_;
  std::string input_;
  std::size_t begin_ = 0, searched_ = 0;
};

// A batch as it stands in etcd: compressed, since each of its bytes passes through etcd's JSON gateway in base64,
// through its log on every member, and back to every replica. What the hashes are of is the batch itself, as before.
//
//   "WZST", u16 version 1, u16 zero, a Zstandard frame (RFC 8878) that states the size of its content
//
// Little-endian. A batch that begins otherwise ("WLOG": docs/ledger-format.md, section 8) stands as it is: so older
// builds wrote all of them, and so does this one where compression gains nothing. No other value is touched.

// Of one value, unpacked; owners make none of more than 1.5 MiB (docs/etcd.md, "What it rests on").
inline constexpr std::size_t kMaxEtcdValueBytes = 4 << 20;

std::string packedForEtcd(std::string_view value);
// Errors: a newer version; no such frame, or one of more than kMaxEtcdValueBytes.
Result<std::string> unpackedFromEtcd(std::string value);

}  // namespace witan::node
