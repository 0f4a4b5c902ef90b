#include "domains/disclosure/commitment.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/sha256.h"

namespace witan::domains::disclosure {

std::optional<CommitmentHash> commitmentHashNamed(std::string_view alg) {
  if (alg == "SHA-256") return CommitmentHash::sha256;
  if (alg == "SHA3-256") return CommitmentHash::sha3_256;
  return std::nullopt;
}

bool isHash256(std::string_view hex) {
  return hex.size() == 64 &&
         std::all_of(hex.begin(), hex.end(), [](char c) { return ('0' <= c && c <= '9') || ('a' <= c && c <= 'f'); });
}

Hash commitmentOf(CommitmentHash h, const Hash& nonce, const Hash& artifactDigest) {
  std::string preimage("AR-COMMIT-v1\0", 13);
  preimage += asView(nonce);
  preimage += asView(artifactDigest);
  return h == CommitmentHash::sha256 ? sha256(preimage) : sha3_256(preimage);
}

bool opens(std::string_view hash, std::string_view alg, std::string_view nonce, std::string_view digest) {
  const auto h = commitmentHashNamed(alg);
  const auto nonceBytes = hashFromHex(nonce);
  const auto digestBytes = hashFromHex(digest);
  return h && nonceBytes && digestBytes && toHex(commitmentOf(*h, *nonceBytes, *digestBytes)) == hash;
}

}  // namespace witan::domains::disclosure
