#include "agents/episode/transcript.h"

#include <algorithm>

#include "base/quote.h"
#include "replication/records/message_graph.h"

namespace witan::agents::episode {

using replication::Kind;
using replication::MessageKind;

namespace {

inline constexpr std::size_t kMaxEntryDepth = 48;
inline constexpr std::size_t kNumberDigits = 6;

MessageKind messageKind(EntryKind kind) {
  switch (kind) {
    case EntryKind::begin:
    case EntryKind::abort:
    case EntryKind::end: return MessageKind::system;
    case EntryKind::thought: return MessageKind::thought;
    case EntryKind::look:
    case EntryKind::plan:
    case EntryKind::intended:
    case EntryKind::fork: return MessageKind::action;
    case EntryKind::observation:
    case EntryKind::answer:
    case EntryKind::outcome: return MessageKind::toolResult;
  }
  return MessageKind::system;
}

// "{64 hex digits}/{device}/000000"
std::optional<TranscriptKey> firstEntryOf(std::string_view id) {
  const std::size_t hex = 2 * sizeof(Hash);
  const std::size_t tail = 1 + kNumberDigits;
  if (id.size() < hex + 2 + tail || id[hex] != '/' || id.substr(id.size() - tail) != "/000000") return std::nullopt;
  auto run = RunKey::parse(id.substr(0, hex));
  if (!run.ok()) return std::nullopt;
  return TranscriptKey{*run, std::string(id.substr(hex + 1, id.size() - hex - 1 - tail))};
}

}  // namespace

Entry makeEntry(EntryKind kind, json::object body) {
  body["entry"] = enumName(kind);
  std::string content = canonicalJson(body);
  WITAN_CHECK(content.size() <= kMaxEntryBytes, "the parts of an entry were bounded");
  auto read = parseEntry(content);
  WITAN_CHECK(read.ok(), "an entry can be read back");
  return *std::move(read);
}

Result<Entry> parseEntry(std::string_view content) {
  auto parsed = parseJson(content, {.bytes = kMaxEntryBytes, .depth = kMaxEntryDepth});
  if (!parsed.ok()) return parsed.error();
  if (!parsed->is_object()) return invalid("an entry is an object");
  if (canonicalJson(*parsed) != content) return invalid("it is not in canonical form");
  json::object body = std::move(parsed->get_object());
  const json::value* word = body.if_contains("entry");
  if (word == nullptr || !word->is_string()) return invalid("\"entry\" does not say its kind");
  const auto kind = parseEnum<EntryKind>(word->get_string());
  if (!kind) return invalid("unknown kind of entry " + inQuotes(word->get_string()));
  body.erase("entry");
  return Entry{*kind, std::move(body), std::string(content)};
}

std::string entryId(const RunKey& run, std::string_view device, std::uint64_t number) {
  std::string digits = std::to_string(number);
  digits.insert(0, kNumberDigits - std::min(kNumberDigits, digits.size()), '0');
  return concat(run.hex(), "/", device, "/", digits);
}

std::string transcriptThread(std::string_view thread, const RunKey& run) { return concat(thread, "/run/", run.hex()); }

Result<replication::MessageBody> messageOf(const TranscriptName& name, std::uint64_t number, const Entry& entry,
                                           std::int64_t atMs) {
  replication::MessageBody message{.id = entryId(name.run, name.device, number),
                                   .agentId = name.agentId,
                                   .threadId = transcriptThread(name.thread, name.run),
                                   .kind = messageKind(entry.kind)};
  if (number > 0) message.parents.push_back(entryId(name.run, name.device, number - 1));
  message.content = entry.content;
  message.createdAtMs = atMs;
  if (entry.kind == EntryKind::intended || entry.kind == EntryKind::outcome)
    if (const json::value* span = entry.body.if_contains("span"); span != nullptr && span->is_string()) {
      WITAN_SET(message.operationId, hashFromHex(span->get_string()));
    }
  WITAN_DO(checkRecord(message));
  return message;
}

Result<std::vector<TranscriptRow>> readTranscript(replication::Space& space, const RunKey& run,
                                                  std::string_view device) {
  std::vector<TranscriptRow> rows;
  for (;;) {
    const std::string id = entryId(run, device, rows.size());
    WITAN_TRY(versions, space.versions(Kind::message, id));
    // From one that was taken away on (agents/host/run_retention.h) it is as if there were no more.
    if (versions.empty() || std::ranges::any_of(versions, &replication::Version::tombstone)) return rows;
    if (versions.size() > 1) return corrupt("entry " + id + " has two contents");
    if (rows.size() == kMaxEntries) return invalid(concat("transcript of more than ", kMaxEntries, " entries"));
    auto message = replication::messageOf(versions.front());
    if (!message.ok()) return corrupt("entry " + id + ": " + message.error().message);
    rows.push_back({message->dot, std::move(message->body)});
  }
}

std::vector<TranscriptKey> listTranscripts(replication::Space& space) {
  std::vector<TranscriptKey> out;
  for (const std::string& id : space.keys(Kind::message))
    if (auto key = firstEntryOf(id)) {
      const replication::Record* record = space.table().find(Kind::message, id);
      if (std::ranges::none_of(record->versions, &replication::Held::tombstone)) out.push_back(*std::move(key));
    }
  std::ranges::sort(out);
  return out;
}

}  // namespace witan::agents::episode
