#include "kernel/record/checkpoint.h"

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "kernel/record/merkle.h"

namespace witan::kernel {

namespace {

bool isLine(std::string_view line) {
  return !line.empty() && std::ranges::none_of(line, [](unsigned char byte) { return byte < 0x20; });
}

Error bad(std::size_t line, std::string_view why) { return invalid(concat("checkpoint: line ", line, ": ", why)); }

Result<std::uint64_t> parseSize(std::string_view text) {
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc{} || end != text.data() + text.size() || (text.size() > 1 && text[0] == '0')) {
    return bad(2, "the tree size is not a decimal number without leading zeros");
  }
  if (size > maxTreeSize) return bad(2, "the tree size is above 2^63 - 1");
  return size;
}

Result<Hash> parseRoot(std::string_view text) {
  const Result<std::string> bytes = fromBase64(text);
  Hash root;
  if (!bytes.ok() || bytes->size() != root.size()) return bad(3, "the root hash is not the base64 of 32 bytes");
  std::copy(bytes->begin(), bytes->end(), root.begin());
  return root;
}

// The lines of a text that ends in a newline; none of them empty.
Result<std::vector<std::string_view>> splitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  if (!text.ends_with('\n')) return invalid("checkpoint: the last line has no newline");
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (!isLine(lines.back())) return bad(lines.size(), "empty, or with a control character");
    if (lines.size() > 3 + maxExtensionLines) return bad(lines.size(), "too many extension lines");
    text.remove_prefix(end + 1);
  }
  if (lines.size() < 3) return invalid("checkpoint: origin, tree size and root hash are three lines");
  return lines;
}

}  // namespace

Result<std::string> checkpointText(const Checkpoint& checkpoint) {
  if (!isLine(checkpoint.origin) || checkpoint.origin.size() > maxOriginBytes) {
    return invalid("checkpoint: the origin is empty, too long, or has a control character");
  }
  if (checkpoint.size > maxTreeSize) return invalid("checkpoint: the tree size is above 2^63 - 1");
  if (checkpoint.extensions.size() > maxExtensionLines) return invalid("checkpoint: too many extension lines");
  std::string text = concat(checkpoint.origin, '\n', checkpoint.size, '\n', toBase64(asView(checkpoint.root)), '\n');
  for (const std::string& extension : checkpoint.extensions) {
    if (!isLine(extension)) return invalid("checkpoint: an extension line is empty or has a control character");
    text.append(extension).append(1, '\n');
  }
  return text;
}

Result<Checkpoint> parseCheckpointText(std::string_view text) {
  WITAN_TRY(lines, splitLines(text));
  if (lines[0].size() > maxOriginBytes) return bad(1, "the origin is too long");
  WITAN_TRY(size, parseSize(lines[1]));
  WITAN_TRY(root, parseRoot(lines[2]));
  return Checkpoint{std::string(lines[0]), size, root, {lines.begin() + 3, lines.end()}};
}

Result<std::string> signCheckpoint(const Checkpoint& checkpoint, const SigningKey& key) {
  WITAN_TRY(text, checkpointText(checkpoint));
  const NoteSigner signer{checkpoint.origin, key};
  return signNote(text, {&signer, 1});
}

Result<OpenedCheckpoint> openCheckpoint(std::string_view note, std::string_view origin,
                                        std::span<const NoteVerifier> known) {
  WITAN_TRY(opened, openNote(note, known));
  WITAN_TRY(checkpoint, parseCheckpointText(opened.text));
  if (checkpoint.origin != origin) {
    return Error{ErrorCode::unauthorised,
                 concat("checkpoint: of the log \"", checkpoint.origin, "\", not of \"", origin, "\"")};
  }
  return OpenedCheckpoint{std::move(checkpoint), std::move(opened.verifiedBy)};
}

}  // namespace witan::kernel
