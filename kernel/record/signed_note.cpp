#include "kernel/record/signed_note.h"

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "base/public_key.h"

namespace witan::kernel {

namespace {

constexpr std::string_view linePrefix = "\u2014 ";  // em dash, space
constexpr std::size_t keyIdBytes = 4;

// The code point at the front of `text`, which it removes; none if the bytes are not UTF-8 (RFC 3629 section 4).
std::optional<char32_t> takeCodePoint(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) return std::nullopt;
  char32_t point = length == 1 ? lead : lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0u) != 0x80u) return std::nullopt;
    point = point << 6 | (next & 0x3Fu);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (point < smallest[length] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return std::nullopt;
  text.remove_prefix(length);
  return point;
}

// Unicode's White_Space property.
bool isSpace(char32_t point) {
  return (point >= 0x09 && point <= 0x0D) || point == 0x20 || point == 0x85 || point == 0xA0 || point == 0x1680 ||
         (point >= 0x2000 && point <= 0x200A) || point == 0x2028 || point == 0x2029 || point == 0x202F ||
         point == 0x205F || point == 0x3000;
}

bool isNoteText(std::string_view text) {
  while (!text.empty()) {
    const std::optional<char32_t> point = takeCodePoint(text);
    if (!point || (*point < 0x20 && *point != '\n')) return false;
  }
  return true;
}

constexpr std::size_t timeBytes = 8;  // at the front of a cosignature

std::string bigEndianBytes(std::uint64_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text.push_back(static_cast<char>(value >> shift & 0xff));
  return text;
}
std::string keyIdBigEndian(std::uint32_t id) { return bigEndianBytes(id, keyIdBytes); }

std::uint32_t readKeyId(std::string_view bytes) {
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < keyIdBytes; ++i) id = id << 8 | static_cast<unsigned char>(bytes[i]);
  return id;
}

std::string typedKey(const PublicKey& publicKey, NoteKeyType type) {
  return std::string(1, static_cast<char>(type)).append(asView(std::span<const std::uint8_t>(publicKey)));
}

std::string cosignedMessage(std::string_view text, std::uint64_t seconds) {
  return concat("cosignature/v1\ntime ", seconds, "\n", text);
}

std::string signatureLine(std::string_view name, std::uint32_t keyId, std::string_view signature) {
  return concat(linePrefix, name, ' ', toBase64(keyIdBigEndian(keyId).append(signature)), '\n');
}

bool verifies(const NoteVerifier& key, std::string_view text, std::string_view signature) {
  const std::string_view publicKey = asView(std::span<const std::uint8_t>(key.publicKey));
  if (key.type == NoteKeyType::signature) return verifySignature(publicKey, text, signature);
  if (signature.size() < timeBytes) return false;
  std::uint64_t seconds = 0;
  for (std::size_t i = 0; i < timeBytes; ++i) seconds = seconds << 8 | static_cast<unsigned char>(signature[i]);
  return verifySignature(publicKey, cosignedMessage(text, seconds), signature.substr(timeBytes));
}

struct SignatureLine {
  std::string_view name;
  std::uint32_t keyId = 0;
  std::string signature;
};

// `line` is without its newline; `number` counts from 1 within the signatures.
Result<SignatureLine> parseSignatureLine(std::string_view line, std::size_t number) {
  const auto bad = [&](std::string_view why) { return invalid(concat("note: signature line ", number, ": ", why)); };
  if (!line.starts_with(linePrefix)) return bad("does not start with an em dash and a space");
  line.remove_prefix(linePrefix.size());
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return bad("no space after the key name");
  const std::string_view name = line.substr(0, space);
  if (!isKeyName(name)) return bad("the key name is not valid");
  Result<std::string> bytes = fromBase64(line.substr(space + 1));
  if (!bytes.ok()) return bad("the signature is not base64");
  if (bytes->size() <= keyIdBytes) return bad("the signature is too short");
  return SignatureLine{name, readKeyId(*bytes), bytes->substr(keyIdBytes)};
}

struct NoteParts {
  std::string_view text;
  std::string_view signatures;
};

Result<NoteParts> splitNote(std::string_view note) {
  if (note.size() > maxNoteBytes) return invalid(concat("note: more than ", maxNoteBytes, " bytes"));
  if (!isNoteText(note)) return invalid("note: not UTF-8, or with a control character");
  const std::size_t blank = note.rfind("\n\n");
  if (blank == std::string_view::npos) return invalid("note: no blank line between text and signatures");
  const NoteParts parts{note.substr(0, blank + 1), note.substr(blank + 2)};
  if (parts.signatures.empty()) return invalid("note: no signature line");
  if (!parts.signatures.ends_with('\n')) return invalid("note: the last line has no newline");
  return parts;
}

// Counts one line into `opened`, or says why it refuses the whole note.
Status takeSignature(const SignatureLine& line, std::span<const NoteVerifier> known, OpenedNote& opened) {
  const auto key = std::ranges::find_if(
      known, [&](const NoteVerifier& verifier) { return verifier.keyId == line.keyId && verifier.name == line.name; });
  if (key == known.end()) {
    ++opened.unknownSignatures;
    return okStatus();
  }
  if (!verifies(*key, opened.text, line.signature)) {
    return Error{ErrorCode::unauthorised, "note: the signature of " + key->name + " does not verify"};
  }
  const bool repeated = std::ranges::find(opened.verifiedBy, *key) != opened.verifiedBy.end();
  if (!repeated) opened.verifiedBy.push_back(*key);
  return okStatus();
}

}  // namespace

bool isKeyName(std::string_view name) {
  if (name.empty() || name.size() > maxKeyNameBytes) return false;
  while (!name.empty()) {
    const std::optional<char32_t> point = takeCodePoint(name);
    if (!point || *point < 0x20 || *point == '+' || isSpace(*point)) return false;
  }
  return true;
}

std::uint32_t noteKeyId(std::string_view name, const PublicKey& publicKey, NoteKeyType type) {
  const Hash hash = sha256(concat(name, '\n', typedKey(publicKey, type)));
  return readKeyId(asView(hash));
}

Result<NoteVerifier> makeNoteVerifier(std::string_view name, const PublicKey& publicKey, NoteKeyType type) {
  if (!isKeyName(name)) return invalid("note key: the name is empty, too long, or has a space or a plus");
  return NoteVerifier{std::string(name), noteKeyId(name, publicKey, type), publicKey, type};
}

std::string verifierKeyText(const NoteVerifier& verifier) {
  return verifier.name + '+' + toHex(asBytes(keyIdBigEndian(verifier.keyId))) + '+' +
         toBase64(typedKey(verifier.publicKey, verifier.type));
}

Result<NoteVerifier> parseVerifierKey(std::string_view text) {
  const std::size_t first = text.find('+');
  if (first == std::string_view::npos || text.size() - first < 10 || text[first + 9] != '+') {
    return invalid("verifier key: not of the form name+keyid+key");
  }
  WITAN_TRY(id, fromHex(text.substr(first + 1, 8)));
  WITAN_TRY(key, fromBase64(text.substr(first + 10)));
  PublicKey publicKey;
  const auto type = key.empty() ? NoteKeyType{} : static_cast<NoteKeyType>(key[0]);
  const bool known = type == NoteKeyType::signature || type == NoteKeyType::cosignature;
  if (key.size() != 1 + publicKey.size() || !known) {
    return invalid("verifier key: not an Ed25519 key of type 0x01 or 0x04 and 32 bytes");
  }
  std::copy(key.begin() + 1, key.end(), publicKey.begin());
  WITAN_DO(checkPublicKey("verifier key", publicKey));
  WITAN_TRY(verifier, makeNoteVerifier(text.substr(0, first), publicKey, type));
  if (verifier.keyId != readKeyId(id)) return invalid("verifier key: the key id is not that of the key and the name");
  return verifier;
}

Result<std::string> signNote(std::string_view text, std::span<const NoteSigner> signers) {
  if (!text.ends_with('\n')) return invalid("note: the text is empty or does not end in a newline");
  if (!isNoteText(text)) return invalid("note: the text is not UTF-8, or has a control character");
  if (signers.empty() || signers.size() > maxNoteSignatures) {
    return invalid(concat("note: between 1 and ", maxNoteSignatures, " signers are needed"));
  }
  std::string note = concat(text, '\n');
  for (const NoteSigner& signer : signers) {
    if (!isKeyName(signer.name)) return invalid("note: the key name is empty, too long, or has a space or a plus");
    const auto signature = signer.key.sign(text);
    note += signatureLine(signer.name, noteKeyId(signer.name, signer.key.publicKey()),
                          asView(std::span<const std::uint8_t>(signature)));
  }
  if (note.size() > maxNoteBytes) return invalid(concat("note: more than ", maxNoteBytes, " bytes"));
  return note;
}

Result<OpenedNote> openNote(std::string_view note, std::span<const NoteVerifier> known) {
  WITAN_TRY(parts, splitNote(note));
  OpenedNote opened;
  opened.text = parts.text;
  std::string_view rest = parts.signatures;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    if (number > maxNoteSignatures) {
      return invalid(concat("note: more than ", maxNoteSignatures, " signatures"));
    }
    const std::size_t end = rest.find('\n');
    WITAN_TRY(line, parseSignatureLine(rest.substr(0, end), number));
    WITAN_DO(takeSignature(line, known, opened));
    rest.remove_prefix(end + 1);
  }
  if (opened.verifiedBy.empty()) return Error{ErrorCode::unauthorised, "note: no signature of a known key"};
  return opened;
}

std::string cosignatureLine(std::string_view text, const NoteSigner& signer, Time at) {
  const auto seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(at.micros, 0) / 1'000'000);
  const auto signature = signer.key.sign(cosignedMessage(text, seconds));
  return signatureLine(signer.name, noteKeyId(signer.name, signer.key.publicKey(), NoteKeyType::cosignature),
                       bigEndianBytes(seconds, timeBytes).append(asView(std::span<const std::uint8_t>(signature))));
}

Result<std::string> withSignaturesOf(std::string_view note, std::string_view other) {
  WITAN_TRY(mine, splitNote(note));
  WITAN_TRY(theirs, splitNote(other));
  if (mine.text != theirs.text) return invalid("note: signatures of another text");
  std::string joined(note);
  while (!theirs.signatures.empty()) {
    const std::string_view line = theirs.signatures.substr(0, theirs.signatures.find('\n') + 1);
    if (joined.find(concat('\n', line), mine.text.size()) == std::string::npos) joined.append(line);
    theirs.signatures.remove_prefix(line.size());
  }
  return joined;
}

}  // namespace witan::kernel
