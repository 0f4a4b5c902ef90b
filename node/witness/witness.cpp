#include "node/witness/witness.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/bytes.h"
#include "replica/core/log_head.h"

namespace witan::node {

namespace {

constexpr std::size_t kMostHashes = 63;
constexpr std::string_view kOld = "old ";
constexpr const char* kSizeType = "text/x.tlog.size";

Witness::Answer turnedAway(int status, std::string_view why) { return {.status = status, .body = concat(why, "\n")}; }

Witness::Answer otherSize(std::uint64_t known) {
  return {.status = 409, .contentType = kSizeType, .body = concat(known, "\n")};
}

std::optional<std::uint64_t> sizeIn(std::string_view text) {
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  const bool whole = error == std::errc{} && end == text.data() + text.size() && size <= kernel::maxTreeSize;
  return whole && std::to_string(size) == text ? std::optional(size) : std::nullopt;
}

std::optional<Hash> hashIn(const std::string& bytes) {
  Hash hash{};
  if (bytes.size() != hash.size()) return std::nullopt;
  std::ranges::copy(asBytes(bytes), hash.begin());
  return hash;
}

struct AddRequest {
  std::uint64_t old = 0;
  std::vector<Hash> proof;
  std::string_view note;
};

Result<AddRequest> parseAdd(std::string_view body) {
  if (body.size() > kMaxAddCheckpoint) return invalid("too long");
  const auto line = [&] {
    const std::string_view one = body.substr(0, body.find('\n'));
    body.remove_prefix(std::min(body.size(), one.size() + 1));
    return one;
  };
  AddRequest request;
  const std::string_view first = line();
  const auto old = first.starts_with(kOld) ? sizeIn(first.substr(kOld.size())) : std::nullopt;
  if (!old) return invalid("the first line is not: old SIZE");
  request.old = *old;
  for (std::string_view next = line(); !next.empty(); next = line()) {
    const auto bytes = fromBase64(next);
    const auto hash = bytes.ok() ? hashIn(*bytes) : std::nullopt;
    if (!hash || request.proof.size() == kMostHashes) return invalid("the proof is not of at most 63 hashes in base64");
    request.proof.push_back(*hash);
  }
  request.note = body;
  return request;
}

}  // namespace

std::string addCheckpointBody(std::uint64_t old, const std::vector<Hash>& proof, std::string_view note) {
  std::string body = concat(kOld, old, "\n");
  for (const Hash& hash : proof) body += toBase64(asView(std::span<const std::uint8_t>(hash))) + "\n";
  return concat(body, "\n", note);
}

Result<Witness> Witness::open(kernel::NoteSigner signer, std::vector<kernel::NoteVerifier> logs,
                              std::string_view remembered, Remember remember) {
  Witness witness(std::move(signer), std::move(logs), std::move(remember));
  WITAN_SET(witness.known_, parseSignedSizes(remembered));
  return witness;
}

// Each key has an equal share of what is remembered, so that none bars the others.
Status Witness::hasRoomFor(const kernel::NoteVerifier& key) const {
  const std::size_t share = kMaxWitnessedLogs / keys_.size();
  const auto isOf = [&](const auto& log) { return signsLog(key, log.first); };
  if (static_cast<std::size_t>(std::ranges::count_if(known_, isOf)) < share) return okStatus();
  return conflict(concat("the key ", key.name, " has its share of ", share, " logs here"));
}

std::vector<kernel::NoteVerifier> Witness::keysOf(std::string_view origin) const {
  std::vector<kernel::NoteVerifier> keys;
  std::ranges::copy_if(keys_, std::back_inserter(keys),
                       [&](const kernel::NoteVerifier& key) { return signsLog(key, origin); });
  return keys;
}

Witness::Answer Witness::addCheckpoint(std::string_view body, Time now) {
  const auto asked = parseAdd(body);
  if (!asked.ok()) return turnedAway(400, asked.error().message);
  const std::string origin(asked->note.substr(0, asked->note.find('\n')));
  const auto keys = keysOf(origin);
  if (keys.empty()) return turnedAway(404, "this witness knows no such log");
  const auto opened = kernel::openCheckpoint(asked->note, origin, keys);
  if (!opened.ok())
    return turnedAway(opened.error().code == ErrorCode::unauthorised ? 403 : 400, opened.error().message);
  const kernel::Checkpoint& next = opened->checkpoint;
  const auto at = known_.find(origin);
  const SignedSize before = at == known_.end() ? SignedSize{0, kernel::emptyRoot()} : at->second;
  if (asked->old > next.size) return turnedAway(400, "the old size is greater than the checkpoint's");
  if (asked->old != before.size || (before.size == next.size && before.root != next.root))
    return otherSize(before.size);
  if (!kernel::verifyConsistency(before.size, next.size, before.root, next.root, asked->proof))
    return turnedAway(422, "the proof does not lead from the old tree to this one");
  if (at == known_.end())
    if (const Status room = hasRoomFor(keys.front()); !room.ok()) return turnedAway(503, room.error().message);
  SignedSizes after = known_;
  after[origin] = {next.size, next.root};
  if (const Status kept = remember_(signedSizesText(after)); !kept.ok())
    return turnedAway(500, "this witness cannot remember it: " + kept.error().message);
  known_ = std::move(after);
  const auto signedText = kernel::checkpointText(next);
  return {.body = kernel::cosignatureLine(*signedText, signer_, now)};
}

}  // namespace witan::node
