#include "replica/core/folded_log.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/bytes.h"
#include "kernel/record/checkpoint.h"

namespace witan::node {

namespace {

constexpr std::string_view kFoldedLine = "folded ";

// The next word of a line, which loses it.
std::string_view word(std::string_view& line) {
  const std::string_view found = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(found.size() + 1, line.size()));
  return found;
}

bool readCount(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

std::string nameOfCopy(const std::string& origin) { return concat(kernel::kCopyStatement, origin); }

}  // namespace

Result<FoldedLog> foldLog(const PartitionHost& host) {
  const std::uint64_t batches = host.ledger().batches();
  Sha256 hash;
  hash.update("witan-folded/1\n");
  for (std::uint64_t n = 1; n <= batches; ++n) {
    const auto digest = host.chain().after(n);
    if (!digest) return corrupt(concat("the digest of the first ", n, " batches is not here"));
    hash.update(asView(*digest));
  }
  for (const std::uint64_t start : host.ledger().epochStarts()) hash.update(bigEndian(start));
  const kernel::Partition::Folded folded = host.ledger().folded();
  hash.update(asView(folded.digest));
  return FoldedLog{batches, host.partition().size(), hash.finish(), folded.bytes, {}};
}

Result<std::string> signFolded(const FoldedLog& log, const Hash& root, const std::string& origin,
                               const SigningKey& key) {
  return kernel::signCheckpoint({nameOfCopy(origin),
                                 log.entries,
                                 root,
                                 {concat(kFoldedLine, log.batches, " ", toHex(log.digest), " ", log.bytes)}},
                                key);
}

Result<FoldedLog> openFolded(const std::string& note, const std::string& origin, std::span<const PublicKey> keys) {
  std::vector<kernel::NoteVerifier> known;
  for (const PublicKey& key : keys) {
    WITAN_TRY(verifier, kernel::makeNoteVerifier(nameOfCopy(origin), key));
    known.push_back(std::move(verifier));
  }
  WITAN_TRY(opened, kernel::openCheckpoint(note, nameOfCopy(origin), known));
  for (const std::string& extension : opened.checkpoint.extensions) {
    if (!extension.starts_with(kFoldedLine)) continue;
    std::string_view line = std::string_view(extension).substr(kFoldedLine.size());
    FoldedLog log{.entries = opened.checkpoint.size, .note = note};
    const bool first = readCount(word(line), log.batches);
    const auto digest = fromHex(word(line));
    if (!first || !digest.ok() || digest->size() != log.digest.size() || !readCount(line, log.bytes)) break;
    std::memcpy(log.digest.data(), digest->data(), log.digest.size());
    return log;
  }
  return invalid("the note does not say what a log adds up to");
}

}  // namespace witan::node
