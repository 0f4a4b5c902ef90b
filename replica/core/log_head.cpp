#include "replica/core/log_head.h"

#include <algorithm>
#include <charconv>

#include "base/bytes.h"
#include "base/identity.h"
#include "base/mutant.h"
#include "replica/core/signed_sizes.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

constexpr std::string_view kPrefix = "witan/";
constexpr std::string_view kLineStart = "\u2014 ";

std::optional<std::uint64_t> numberOf(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size() && std::to_string(number) == text;
  return whole ? std::optional(number) : std::nullopt;
}

// Without "witan/{cluster}/"; empty: it begins otherwise.
std::string_view within(std::string_view cluster, std::string_view name) {
  if (!name.starts_with(kPrefix)) return {};
  name.remove_prefix(kPrefix.size());
  if (!name.starts_with(cluster) || name.size() == cluster.size() || name[cluster.size()] != '/') return {};
  return name.substr(cluster.size() + 1);
}

// Up to the last slash, and what is behind it.
std::pair<std::string_view, std::string_view> cutLast(std::string_view text) {
  const std::size_t at = text.rfind('/');
  if (at == std::string_view::npos) return {{}, text};
  return {text.substr(0, at), text.substr(at + 1)};
}

// The keys of the devices that the signature lines name.
std::vector<kernel::NoteVerifier> verifiersOf(std::string_view cluster, std::string_view lines, const HeadKeys& keys) {
  std::vector<kernel::NoteVerifier> verifiers;
  std::set<std::string> seen;
  while (!lines.empty() && seen.size() < kernel::maxNoteSignatures) {
    std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    if (!line.starts_with(kLineStart)) continue;
    line.remove_prefix(kLineStart.size());
    const std::string device = deviceOfKeyName(cluster, line.substr(0, line.find(' ')));
    if (device.empty() || !seen.insert(device).second) continue;
    for (const PublicKey& key : keys.keysOf(device))
      for (const auto type : {kernel::NoteKeyType::signature, kernel::NoteKeyType::cosignature})
        if (auto made = kernel::makeNoteVerifier(keyNameOf(cluster, device), key, type); made.ok())
          verifiers.push_back(*std::move(made));
  }
  return verifiers;
}

// DOMAIN/NUMBER.
bool isPartition(std::string_view partition) {
  const auto [domain, number] = cutLast(partition);
  return validateId("domain", domain).ok() && domain.find_first_not_of('.') != std::string_view::npos &&
         numberOf(number).has_value();
}

}  // namespace

std::string keyNameOf(std::string_view cluster, std::string_view device) {
  return concat(kPrefix, cluster, '/', device);
}

std::string deviceOfKeyName(std::string_view cluster, std::string_view keyName) {
  return std::string(within(cluster, keyName));
}

std::string originOf(std::string_view cluster, const LogName& log) {
  return concat(kPrefix, cluster, '/', log.partition, '/', log.epoch.number, '/', log.epoch.owner);
}

std::optional<LogName> logOfOrigin(std::string_view cluster, std::string_view origin) {
  const auto [rest, owner] = cutLast(within(cluster, origin));
  const auto [partition, number] = cutLast(rest);
  const auto epoch = numberOf(number);
  if (!epoch || partition.empty() || !replication::validateWriter("owner", owner).ok()) return std::nullopt;
  LogName log{std::string(partition), {*epoch, std::string(owner)}};
  return isPartition(partition) ? std::optional(std::move(log)) : std::nullopt;
}

bool signsLog(const kernel::NoteVerifier& key, std::string_view origin) {
  if (key.type != kernel::NoteKeyType::signature || origin.starts_with(kernel::kCopyStatement)) return false;
  if (key.name == origin || mutated("anyProof")) return true;
  if (!key.name.starts_with(kPrefix)) return false;
  const std::size_t end = std::min(key.name.find('/', kPrefix.size()), key.name.size());
  const std::string_view cluster = std::string_view(key.name).substr(kPrefix.size(), end - kPrefix.size());
  const std::string device = deviceOfKeyName(cluster, key.name);
  const auto log = logOfOrigin(cluster, origin);
  return log && !device.empty() && replication::deviceOf(log->epoch.owner) == device;
}

Result<std::optional<LogHead>> openHead(std::string_view cluster, std::string_view note, const HeadKeys& keys) {
  const std::size_t blank = note.rfind("\n\n");
  if (blank == std::string_view::npos) return invalid("head: no signed note");
  LogHead head;
  head.text = note.substr(0, blank + 1);
  head.note = note;
  WITAN_TRY(checkpoint, kernel::parseCheckpointText(head.text));
  auto log = logOfOrigin(cluster, checkpoint.origin);
  if (!log) return invalid("head: of no log of this cluster");
  head.log = *std::move(log);
  head.checkpoint = std::move(checkpoint);
  const std::string owner(replication::deviceOf(head.log.epoch.owner));
  const auto verifiers = verifiersOf(cluster, note.substr(blank + 2), keys);
  if (verifiers.empty()) return std::optional<LogHead>();
  auto opened = kernel::openNote(note, verifiers);
  // Signed by nobody that is known is no forgery: the roster may be on its way.
  if (!opened.ok() && opened.error().message == "note: no signature of a known key") return std::optional<LogHead>();
  if (!opened.ok()) return opened.error();
  bool byOwner = mutated("anyHead");
  for (const kernel::NoteVerifier& key : opened->verifiedBy) {
    const std::string device = deviceOfKeyName(cluster, key.name);
    byOwner = byOwner || (device == owner && key.type == kernel::NoteKeyType::signature);
    if (device != owner && key.type == kernel::NoteKeyType::cosignature) head.cosigners.insert(device);
  }
  return byOwner ? std::optional(std::move(head)) : std::nullopt;
}

Result<HeadMemory> HeadMemory::parse(std::string_view cluster, std::string_view text) {
  WITAN_TRY(sizes, parseSignedSizes(text));
  HeadMemory memory;
  for (const auto& [origin, known] : sizes) {
    const auto log = logOfOrigin(cluster, origin);
    if (!log) return corrupt("it names a log that is not of this cluster, or of no form");
    if (memory.find(log->partition) != nullptr) return corrupt("it names two heads of " + log->partition);
    memory.note(log->partition, {log->epoch, known.size, known.root});
  }
  return memory;
}

std::string HeadMemory::text(std::string_view cluster) const {
  SignedSizes sizes;
  for (const auto& [partition, head] : signed_)
    sizes[originOf(cluster, {partition, head.epoch})] = {head.size, head.root};
  return signedSizesText(sizes);
}

const HeadMemory::Signed* HeadMemory::find(std::string_view partition) const {
  const auto at = signed_.find(partition);
  return at == signed_.end() ? nullptr : &at->second;
}

bool HeadMemory::permits(const std::string& partition, const Signed& head) const {
  const Signed* last = find(partition);
  if (last == nullptr || last->epoch < head.epoch) return true;
  if (last->epoch != head.epoch) return false;
  return last->size < head.size || (last->size == head.size && last->root == head.root);
}

}  // namespace witan::node
