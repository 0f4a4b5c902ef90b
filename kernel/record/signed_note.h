// Signed notes: a text, a blank line, and signature lines (C2SP signed-note; Go's golang.org/x/mod/sumdb/note), with
// Ed25519 keys. The envelope of checkpoints (kernel/record/checkpoint.h).
//
// Who may call: whoever signs or checks a ledger's head. Pure functions over values. The views and spans passed in must
// outlive the call only.
//
// The text of a note means nothing before a known key has verified it: openNote is the only way to it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto.h"
#include "base/result.h"
#include "base/time.h"

namespace witan::kernel {

// Limits on a note from outside; the specification asks for at least 16 signatures.
inline constexpr std::size_t maxNoteBytes = 1'000'000;
inline constexpr std::size_t maxNoteSignatures = 100;
inline constexpr std::size_t maxKeyNameBytes = 256;

// What an Ed25519 key signs under a name (C2SP signed-note): the text; or, as a witness, a time and the text of a
// checkpoint (C2SP tlog-cosignature).
enum class NoteKeyType : std::uint8_t { signature = 0x01, cosignature = 0x04 };

// A key that is trusted to verify notes.
struct NoteVerifier {
  std::string name;
  std::uint32_t keyId = 0;
  PublicKey publicKey{};
  NoteKeyType type = NoteKeyType::signature;

  friend bool operator==(const NoteVerifier&, const NoteVerifier&) = default;
};

// A key that signs notes under a name.
struct NoteSigner {
  std::string name;
  SigningKey key;
};

// Non-empty UTF-8 without Unicode spaces, ASCII control characters or "+", at most maxKeyNameBytes.
bool isKeyName(std::string_view name);

// SHA-256(name || 0x0A || type || public key)[:4], big-endian.
std::uint32_t noteKeyId(std::string_view name, const PublicKey& publicKey, NoteKeyType type = NoteKeyType::signature);

Result<NoteVerifier> makeNoteVerifier(std::string_view name, const PublicKey& publicKey,
                                      NoteKeyType type = NoteKeyType::signature);

// The one-line form that users exchange: name "+" eight hex digits of the key id "+" base64(type || public key).
// The parser refuses a key id that is not the key's.
std::string verifierKeyText(const NoteVerifier& verifier);
Result<NoteVerifier> parseVerifierKey(std::string_view text);

// The note: `text`, a blank line, one signature line per signer. `text` is UTF-8, ends in a newline and has
// no other ASCII control character.
Result<std::string> signNote(std::string_view text, std::span<const NoteSigner> signers);

struct OpenedNote {
  std::string text;                      // up to and including its last newline
  std::vector<NoteVerifier> verifiedBy;  // known keys whose signature holds, in the order of the lines, each once
  std::size_t unknownSignatures = 0;     // lines of keys that are not among the known ones
};

// Any bytes. Signatures of unknown keys are ignored; one of a known key that does not verify refuses the note, and so
// does a note that no known key signed (both `unauthorised`). O(bytes + signatures * known).
Result<OpenedNote> openNote(std::string_view note, std::span<const NoteVerifier> known);

// The signature line, newline included, of a witness: at this time, `text` is the newest checkpoint of its log that
// `signer` has seen, and extends all that it has cosigned of that log. Requires: isKeyName(signer.name).
std::string cosignatureLine(std::string_view text, const NoteSigner& signer, Time at);

// `note` with the signature lines of `other` that it lacks. Errors: no note; of two texts.
Result<std::string> withSignaturesOf(std::string_view note, std::string_view other);

}  // namespace witan::kernel
