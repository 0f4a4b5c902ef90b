#include "node/ledgers/ledger_reader.h"

#include <list>

#include "base/json.h"
#include "kernel/ledger/pruned_log.h"
#include "kernel/record/log_batch.h"

namespace witan::node {

using namespace kernel;

namespace {

// The entries of a batch, borrowed from its bytes. Requires: a string's heap bytes, which are aligned.
Result<std::vector<StoredEntry>> entriesOf(std::string_view batch) {
  std::vector<StoredEntry> entries;
  WITAN_TRY(info, readLogBatch(batch, [&](const LogRecord& record) -> Status {
              if (record.kind != RecordKind::entry) return okStatus();
              WITAN_TRY(entry, readEntryView(record.payload));
              entries.push_back({entry.seq, record.payload, record.leaf, entry});
              return okStatus();
            }));
  (void)info;
  return entries;
}

Result<std::string> batchAt(const store::Reader& store, std::uint64_t number) {
  WITAN_TRY(value, store.get(batchKey(number)));
  if (!value) return corrupt(concat("batch ", number, " is missing"));
  return *std::move(value);
}

// How many batches a stored log has.
Result<std::uint64_t> batchesOf(const store::Reader& store) {
  WITAN_TRY(newest, store.last("l"));
  if (!newest) return std::uint64_t{0};
  if (newest->first.size() != 9) return corrupt(concat("a batch has a key of ", newest->first.size(), " bytes"));
  std::uint64_t number = 0;
  for (const char c : newest->first.substr(1)) number = number << 8 | static_cast<unsigned char>(c);
  return number + 1;
}

}  // namespace

Status forEachEntry(const store::Reader& store, const std::function<bool(const StoredEntry&)>& visit) {
  Status status = okStatus();
  WITAN_TRY(pruned, prunedLog(store));
  std::uint64_t seq = pruned ? pruned->entries : 0;
  bool more = true;
  WITAN_DO(store.scan("l", batchKey(pruned ? pruned->batches : 0), [&](std::string_view, std::string_view value) {
    std::string aligned;  // a string's heap bytes are aligned; the store's may not be
    if (reinterpret_cast<std::uintptr_t>(value.data()) % 8 != 0) value = aligned = std::string(value);
    auto info = readLogBatch(value, [&](const LogRecord& record) -> Status {
      if (record.kind != RecordKind::entry || !more) return okStatus();
      ++seq;
      auto entry = readEntryView(record.payload);
      if (!entry) return corrupt(concat("entry ", seq, ": ", entry.error().message));
      more = visit({seq, record.payload, record.leaf, *entry});
      return okStatus();
    });
    if (!info) status = info.error();
    return status.ok() && more;
  }));
  return status;
}

Status visitBatch(const store::Reader& store, std::uint64_t number, const EntryVisit& visit) {
  WITAN_TRY(bytes, batchAt(store, number));
  WITAN_TRY(entries, entriesOf(bytes));
  for (const StoredEntry& entry : entries) visit(entry);
  return okStatus();
}

Status visitNewest(const store::Reader& store, std::size_t count, const std::function<bool(const StoredEntry&)>& takes,
                   const EntryVisit& visit) {
  struct Batch {
    std::string bytes;
    std::vector<StoredEntry> entries;  // borrow the bytes
  };
  std::list<Batch> newest;  // oldest first
  std::size_t found = 0;
  WITAN_TRY(pruned, prunedLog(store));
  WITAN_TRY(n, batchesOf(store));
  while (n > (pruned ? pruned->batches : 0) && found < count) {
    WITAN_TRY(bytes, batchAt(store, --n));
    Batch& batch = newest.emplace_front(Batch{std::move(bytes), {}});
    WITAN_TRY(entries, entriesOf(batch.bytes));
    std::erase_if(entries, [&](const StoredEntry& entry) { return !takes(entry); });
    found += entries.size();
    if (entries.empty())
      newest.pop_front();
    else
      batch.entries = std::move(entries);
  }
  std::size_t older = found > count ? found - count : 0;
  for (const Batch& batch : newest)
    for (const StoredEntry& entry : batch.entries) older > 0 ? void(--older) : visit(entry);
  return okStatus();
}

Result<std::uint64_t> batchWith(const store::Reader& store, std::uint64_t batches, std::uint64_t seq) {
  WITAN_TRY(pruned, prunedLog(store));
  if (pruned && seq <= pruned->entries) return isPruned(*pruned);
  std::uint64_t first = pruned ? pruned->batches : 0, end = batches;
  while (end - first > 1) {
    const std::uint64_t middle = first + (end - first) / 2;
    WITAN_TRY(bytes, batchAt(store, middle));
    WITAN_TRY(info, readLogBatch(bytes, [](const LogRecord&) { return okStatus(); }));
    (info.firstSeq <= seq ? first : end) = middle;
  }
  return first;
}

Result<bool> visitEntry(const store::Reader& store, std::uint64_t seq, const EntryVisit& visit) {
  WITAN_TRY(batches, batchesOf(store));
  if (batches == 0 || seq == 0) return false;
  WITAN_TRY(n, batchWith(store, batches, seq));
  bool found = false;
  WITAN_DO(visitBatch(store, n, [&](const StoredEntry& entry) {
    if (entry.seq == seq) visit(entry), found = true;
  }));
  return found;
}

Result<MemoryTree> readTree(const store::Reader& store) {
  MemoryTree tree;
  WITAN_TRY(pruned, prunedLog(store));
  if (pruned)
    WITAN_DO(forEachPrunedLeaf(store, *pruned, [&](const Hash& leaf) {
      tree.append(leaf);
      return okStatus();
    }));
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
    words += concat(" ", key, "=", value.is_string() ? std::string(value.get_string()) : canonicalJson(value));
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
  std::string text = concat(head, "  ", minuteOf(e.time), "  ", e.entity, "  ");
  const bool counselor = e.tag == Tag::cCommitted || e.tag == Tag::cRejected;
  if (counselor) {
    text += concat("counselor ", e.counselor, e.tag == Tag::cCommitted ? " commits" : " rejects", " what entry ",
                   e.escalation, " asked: ", actionWords(e.action));
    text += concat("\n         ", enumName(e.tag));
    if (e.tag == Tag::cCommitted) {
      text += e.findings.empty() ? ", safe" : ", UNSAFE:";
      for (const auto& f : e.findings) text += concat(" ", f.invariant);
    }
    if (!e.reason.empty()) text += concat(": ", e.reason);
    return text;
  }
  text += concat(e.role, " proposes ", actionWords(e.action));
  text += concat("\n         ", enumName(e.tag));
  if (!e.invariant.empty()) text += concat(" by ", e.invariant, ": ", e.message);
  return text;
}

}  // namespace witan::node
