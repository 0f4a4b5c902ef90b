// A batch as it stands in etcd: compressed, since each of its bytes passes through etcd's JSON gateway in base64,
// through its log on every member, and back to every replica. What the hashes are of is the batch itself, as before.
//
//   "WZST", u16 version 1, u16 zero, a Zstandard frame (RFC 8878) that states the size of its content
//
// Little-endian. A batch that begins otherwise ("WLOG": docs/ledger-format.md, section 8) stands as it is: so older
// builds wrote all of them, and so does this one where compression gains nothing. No other value is touched.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace witan::node {

// Of one value, unpacked; owners make none of more than 1.5 MiB (docs/etcd.md, "What it rests on").
inline constexpr std::size_t kMaxEtcdValueBytes = 4 << 20;

std::string packedForEtcd(std::string_view value);
// Errors: a newer version; no such frame, or one of more than kMaxEtcdValueBytes.
Result<std::string> unpackedFromEtcd(std::string value);

}  // namespace witan::node
