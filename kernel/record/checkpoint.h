// Checkpoints: the signed head of a ledger in the C2SP tlog-checkpoint form, readable by standard transparency tools.
//
// Who may call: the ledger (signs its head), `witan ledger verify|checkpoint`, and anyone with the verifier key. Pure
// functions over values; what is passed in must outlive the call only.
//
//   <origin>\n <size, decimal>\n <root, base64>\n [<extension>\n ...] \n <signature lines>
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/result.h"
#include "base/sha256.h"
#include "kernel/record/signed_note.h"

namespace witan::kernel {

inline constexpr std::size_t maxOriginBytes = maxKeyNameBytes;
inline constexpr std::size_t maxExtensionLines = 64;

// How the origin of a device's statement about its copy begins (node/api/control_proof.cpp). Signed by the key that
// signs heads, too, it is none: a copy may be cut.
inline constexpr std::string_view kCopyStatement = "witan-copy/";

struct Checkpoint {
  std::string origin;      // the log's name
  std::uint64_t size = 0;  // leaves
  Hash root{};             // of the RFC 6962 tree of that many leaves
  std::vector<std::string> extensions;

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// The note text. An error names the part that has no line of its own: empty, or with a control character.
Result<std::string> checkpointText(const Checkpoint& checkpoint);

// Any bytes. checkpointText(*parseCheckpointText(x)) == x for every x that is accepted.
Result<Checkpoint> parseCheckpointText(std::string_view text);

// The signed note, with the origin as key name: the origin must therefore be a key name too.
Result<std::string> signCheckpoint(const Checkpoint& checkpoint, const SigningKey& key);

struct OpenedCheckpoint {
  Checkpoint checkpoint;
  std::vector<NoteVerifier> verifiedBy;
};

// Any bytes. Accepts what at least one known key signed (see openNote) and whose origin is `origin`, so that a
// checkpoint of one ledger cannot pass for another's.
Result<OpenedCheckpoint> openCheckpoint(std::string_view note, std::string_view origin,
                                        std::span<const NoteVerifier> known);

}  // namespace witan::kernel
