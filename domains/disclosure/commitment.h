// Commitments to artifacts that are still secret (report, proof of concept, write-up):
//   H("AR-COMMIT-v1" 0x00 | nonce (32 bytes) | SHA-256(artifact) (32 bytes)),  H = SHA-256 or SHA3-256.
// The nonce hides what could be guessed: a bare hash of a short report would only bind. Pure; texts are lower-case hex.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/sha256.h"

namespace witan::domains::disclosure {

enum class CommitmentHash { sha256, sha3_256 };

// "SHA-256" and "SHA3-256"; nothing for other words.
std::optional<CommitmentHash> commitmentHashNamed(std::string_view alg);

// 64 lower-case hex digits?
bool isHash256(std::string_view hex);

Hash commitmentOf(CommitmentHash h, const Hash& nonce, const Hash& artifactDigest);

// Does {nonce, digest} open `hash` under `alg`? False for anything malformed.
bool opens(std::string_view hash, std::string_view alg, std::string_view nonce, std::string_view digest);

}  // namespace witan::domains::disclosure
