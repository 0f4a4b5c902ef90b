// The file in which a signer remembers the last tree of each log that it signed (docs/ledger-format.md, sections 9 and
// 12): `heads.signed` of a device, `witness.sizes` of a witness. A file that was cut, or that names a log twice, is
// damaged: who went on with it would sign another history.
//
//   witan-sizes/1 LINES SHA-256     of the lines that follow, in hex
//   SIZE ROOT ORIGIN                one a log, in the order of origins
//
// Nothing but the first line shows that lines are missing, so a file without it is damaged, too. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sha256.h"

namespace witan::node {

struct SignedSize {
  std::uint64_t size = 0;
  Hash root{};
  friend bool operator==(const SignedSize&, const SignedSize&) = default;
};
using SignedSizes = std::map<std::string, SignedSize, std::less<>>;  // by origin

std::string signedSizesText(const SignedSizes& sizes);
// Of an empty text: none. Errors: corrupt, with the line.
Result<SignedSizes> parseSignedSizes(std::string_view text);

}  // namespace witan::node
