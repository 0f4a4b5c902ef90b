#include "node/ledgers/ledger_reader.h"

#include "base/json.h"
#include "kernel/record/log_batch.h"

namespace witan::node {

using namespace kernel;

Status forEachEntry(const store::Reader& store, const std::function<bool(const StoredEntry&)>& visit) {
  Status status = okStatus();
  std::uint64_t seq = 0;
  bool more = true;
  struct Stop {};
  WITAN_DO(store.scan("l", {}, [&](std::string_view, std::string_view value) {
    std::string aligned;  // a string's heap bytes are aligned; the store's may not be
    if (reinterpret_cast<std::uintptr_t>(value.data()) % 8 != 0) value = aligned = std::string(value);
    auto info = readLogBatch(value, [&](const LogRecord& record) -> Status {
      if (record.kind != RecordKind::entry || !more) return okStatus();
      ++seq;
      auto entry = readEntryView(record.payload);
      if (!entry) return corrupt("entry " + std::to_string(seq) + ": " + entry.error().message);
      more = visit({seq, record.payload, record.leaf, *entry});
      return okStatus();
    });
    if (!info) status = info.error();
    return status.ok() && more;
  }));
  return status;
}

Result<MemoryTree> readTree(const store::Reader& store) {
  MemoryTree tree;
  WITAN_DO(forEachEntry(store, [&](const StoredEntry& e) {
    tree.append(e.leaf);
    return true;
  }));
  return tree;
}

Result<std::optional<std::string>> newestCheckpoint(const store::Reader& store) {
  WITAN_TRY(newest, store.last("c"));
  if (!newest) return std::optional<std::string>();
  return std::optional(std::move(newest->second));
}

namespace {

// {"type":"OrderTest","order":"O1",...} -> OrderTest order=O1 ...
std::string actionWords(std::string_view action) {
  auto parsed = parseJson(action, {.bytes = kRecordMax, .depth = 64});
  if (!parsed || !parsed->is_object()) return std::string(action);
  const json::object& object = parsed->get_object();
  std::string words;
  if (const json::value* type = object.if_contains("type"); type != nullptr && type->is_string())
    words = std::string(type->get_string());
  for (const auto& [key, value] : object) {
    if (key == "type" || value.is_null()) continue;
    words +=
        " " + std::string(key) + "=" + (value.is_string() ? std::string(value.get_string()) : canonicalJson(value));
  }
  return words;
}

std::string minuteOf(Time time) {
  std::string text = formatTime(time);
  if (text.size() > 16) text[10] = ' ';
  return text.substr(0, 16);
}

}  // namespace

std::string entryStory(const EntryView& e) {
  std::string head = std::to_string(e.seq);
  head.insert(0, head.size() < 5 ? 5 - head.size() : 0, ' ');
  std::string text = head + "  " + minuteOf(e.time) + "  " + std::string(e.entity) + "  ";
  const bool counselor = e.tag == Tag::cCommitted || e.tag == Tag::cRejected;
  if (counselor) {
    text += "counselor " + std::string(e.counselor) + (e.tag == Tag::cCommitted ? " commits" : " rejects") +
            " what entry " + std::to_string(e.escalation) + " asked: " + actionWords(e.action);
    text += "\n         " + std::string(enumName(e.tag));
    if (e.tag == Tag::cCommitted) {
      text += e.findings.empty() ? ", safe" : ", UNSAFE:";
      for (const auto& f : e.findings) text += " " + std::string(f.invariant);
    }
    if (!e.reason.empty()) text += ": " + std::string(e.reason);
    return text;
  }
  text += std::string(e.role) + " proposes " + actionWords(e.action);
  text += "\n         " + std::string(enumName(e.tag));
  if (!e.invariant.empty()) text += " by " + std::string(e.invariant) + ": " + std::string(e.message);
  return text;
}

}  // namespace witan::node
