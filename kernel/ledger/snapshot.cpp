#include "kernel/ledger/snapshot.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "kernel/partition_instance.h"
#include "kernel/table.h"
#include "store/store.h"

namespace witan::kernel {

namespace {

std::string numbered(std::string key, std::uint64_t number) {
  for (int i = 0; i < 8; ++i) key += static_cast<char>(number >> (56 - 8 * i));
  return key;
}
// u64 bytes of the EntitySnapshot, u64 bytes of all, both: the state may be larger than what is read of one message.
std::string entityPayload(const DomainModule& module, const Partition::Instance& instance, WordWriter& words) {
  EntitySnapshot s{.firstSeq = instance.firstSeq,
                   .lastSeq = instance.lastSeq,
                   .pendingSeq = instance.pending ? instance.pending->seq : 0,
                   .notPassing = instance.state->notPassing,
                   .digest = instance.digest,
                   .genesisHash = instance.genesisHash,
                   .genesis = instance.genesis};
  const std::string_view message = words.message(s);
  std::array<std::uint64_t, 2> sizes{message.size()};
  std::string payload(reinterpret_cast<const char*>(&sizes), sizeof sizes);
  payload += message;
  module.writeState(payload, *instance.state);
  sizes[1] = payload.size();
  std::memcpy(payload.data(), &sizes, sizeof sizes);
  return payload;
}

template <class T>
std::string_view bytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string entityKey(const std::string& entity, std::uint64_t part) {
  std::string key = concat(kSnapshotEntityPrefix, entity);
  return part == 0 ? key : numbered(key + '\n', part);
}

}  // namespace

std::string snapshotChunkKey(char kind, std::uint64_t number) { return numbered(concat("s/", kind, "/"), number); }

bool isSnapshotKey(std::string_view key) {
  constexpr std::string_view kChunks = "ornb";
  const bool chunk = key.size() == 4 + sizeof(std::uint64_t) && key.starts_with("s/") && key[3] == '/' &&
                     kChunks.find(key[2]) != std::string_view::npos;
  return chunk || key == kSnapshotHeadKey || key.starts_with(kSnapshotEntityPrefix);
}

std::string sealSnapshot(std::string_view payload) {
  const Hash check = leafHash(payload);
  std::string value(reinterpret_cast<const char*>(check.data()), 8);
  return value.append(payload);
}

Result<std::string> unsealSnapshot(std::string_view value) {
  if (value.size() < 8) return corrupt("a snapshot record is too short");
  const Hash check = leafHash(value.substr(8));
  if (std::memcmp(check.data(), value.data(), 8) != 0) return corrupt("a snapshot record is damaged");
  return std::string(value.substr(8));
}

// Of what is new, from a row on, of each kind.
void Partition::stageChunk(std::size_t from, const std::vector<std::uint64_t>& newBatches, store::WriteBatch& out) {
  const auto part = [from](const auto& all) {
    const std::size_t begin = std::min(from, all.size());
    return std::span(all).subspan(begin, std::min(kSnapshotChunkRows, all.size() - begin));
  };
  std::string operations;
  for (const auto& [key, answer] : part(newOperations_)) {
    operations.append(reinterpret_cast<const char*>(key.data()), sizeof key);
    operations.append(reinterpret_cast<const char*>(&answer), sizeof answer);
  }
  out.put(snapshotChunkKey('o', snapshotChunks_), sealSnapshot(operations));
  std::string runs;
  for (const auto& [key, binding] : part(newBindings_)) {
    runs.append(reinterpret_cast<const char*>(key.data()), sizeof key);
    runs.append(reinterpret_cast<const char*>(binding.plan.data()), sizeof binding.plan);
    runs.append(reinterpret_cast<const char*>(&binding.entry), sizeof binding.entry);
  }
  out.put(snapshotChunkKey('r', snapshotChunks_), sealSnapshot(runs));
  NoteList notes;
  for (const auto& [outcome, message] : part(std::span(notes_).subspan(snapshotNotes_)))
    notes.notes.push_back({static_cast<std::uint16_t>(outcome), message});
  out.put(snapshotChunkKey('n', snapshotChunks_), sealSnapshot(writer_.message(notes)));
  const auto batches = part(newBatches);
  out.put(snapshotChunkKey('b', snapshotChunks_),
          sealSnapshot({reinterpret_cast<const char*>(batches.data()), batches.size_bytes()}));
  ++snapshotChunks_;
}

void Partition::stageSnapshot(std::uint64_t batches, const std::vector<std::uint64_t>& newBatches,
                              store::WriteBatch& out) {
  WITAN_CHECK(options_.snapshots && batch_.empty(), "a snapshot speaks of committed batches");
  for (const std::string& entity : changed_) {
    Instance& instance = *find(entity);
    instance.changed = false;
    const std::string payload = entityPayload(*module_, instance, writer_);
    for (std::uint64_t part = 0; part * kSnapshotPartBytes < payload.size(); ++part)
      out.put(entityKey(entity, part),
              sealSnapshot(std::string_view(payload).substr(part * kSnapshotPartBytes, kSnapshotPartBytes)));
  }
  const std::size_t rows = std::max(std::max(newOperations_.size(), newBindings_.size()),
                                    std::max(notes_.size() - snapshotNotes_, newBatches.size()));
  for (std::size_t from = 0; from == 0 || from < rows; from += kSnapshotChunkRows) stageChunk(from, newBatches, out);
  SnapshotHead head{.batches = batches,
                    .chunks = snapshotChunks_,
                    .unsafeCommits = unsafeCommits_,
                    .entities = instances_.size(),
                    .module = module_->digest(),
                    .epochs = epochs_,
                    .latest = latest_.micros};
  const std::string frontier = frontier_.serialise();
  head.frontier.assign(frontier.begin(), frontier.end());
  out.put(kSnapshotHeadKey, sealSnapshot(writer_.message(head)));
  changed_.clear();
  newOperations_.clear();
  newBindings_.clear();
  snapshotNotes_ = notes_.size();
}

Partition::Folded Partition::folded(const std::vector<std::uint64_t>& firstSeqs) const {
  WITAN_CHECK(batch_.empty(), "what is folded are committed batches");
  RowsDigest digest;
  WordWriter words;
  digest.add("tree", frontier_.serialise());
  digest.add("unsafe", bytesOf(unsafeCommits_));
  digest.add("latest", bytesOf(latest_.micros));
  for (const EpochRecord& epoch : epochs_) digest.add("epoch", words.message(epoch));
  digest.add("batches", {reinterpret_cast<const char*>(firstSeqs.data()), firstSeqs.size() * sizeof(std::uint64_t)});
  const auto section = [&](std::string_view name, std::uint64_t rows) { digest.add(name, bytesOf(rows)); };
  section("entities", instances_.size());
  for (const std::string& entity : entities()) digest.add(entity, entityPayload(*module_, *find(entity), words));
  section("operations", operations_.size());
  std::vector<std::pair<OperationKey, std::uint64_t>> operations(operations_.begin(), operations_.end());
  std::ranges::sort(operations);
  for (const auto& [key, answer] : operations) digest.add(bytesOf(key), bytesOf(answer));
  section("runs", bindings_.size());
  for (const auto& [run, binding] : bindings_.rows())
    digest.add(bytesOf(run), concat(bytesOf(binding.plan), bytesOf(binding.entry)));
  section("notes", notes_.size());
  for (const auto& [outcome, message] : notes_) digest.add(enumName(outcome), message);
  const std::uint64_t bytes = digest.bytes();
  return {digest.finish(), bytes};
}

namespace {

Result<std::string> readSealed(const store::Reader& store, std::string_view key) {
  WITAN_TRY(value, store.get(key));
  if (!value) return corrupt("a snapshot record is missing");
  return unsealSnapshot(*value);
}

template <class Visit>
Status forEachOperation(const store::Reader& store, std::uint64_t chunk, Visit visit) {
  WITAN_TRY(operations, readSealed(store, snapshotChunkKey('o', chunk)));
  if (operations.size() % 24 != 0) return corrupt("a snapshot's operation ids are cut");
  for (std::size_t at = 0; at < operations.size(); at += 24) {
    DigestPrefix key;
    std::uint64_t answer = 0;
    std::memcpy(key.data(), operations.data() + at, sizeof key);
    std::memcpy(&answer, operations.data() + at + sizeof key, sizeof answer);
    visit(key, answer);
  }
  return okStatus();
}

template <class Visit>
Status forEachRun(const store::Reader& store, std::uint64_t chunk, Visit visit) {
  WITAN_TRY(runs, readSealed(store, snapshotChunkKey('r', chunk)));
  if (runs.size() % 40 != 0) return corrupt("a snapshot's runs are cut");
  for (std::size_t at = 0; at < runs.size(); at += 40) {
    RunBindings::Row row;
    std::memcpy(row.first.data(), runs.data() + at, 16);
    std::memcpy(row.second.plan.data(), runs.data() + at + 16, 16);
    std::memcpy(&row.second.entry, runs.data() + at + 32, 8);
    visit(row);
  }
  return okStatus();
}

}  // namespace

Status Partition::restoreChunk(const store::Reader& store, std::uint64_t number,
                               std::vector<std::uint64_t>& firstSeqs) {
  WITAN_DO(forEachOperation(store, number,
                            [&](const DigestPrefix& key, std::uint64_t answer) { operations_[key] = answer; }));
  bool bound = true;
  WITAN_DO(forEachRun(store, number, [&](const RunBindings::Row& row) {
    bound = bound && row.second.entry != 0 && row.second.entry <= frontier_.size();
    bindings_.restore(row);
  }));
  if (!bound) return corrupt("the snapshot binds a run by an entry that is not there");
  WITAN_TRY(noteBytes, readSealed(store, snapshotChunkKey('n', number)));
  NoteList notes;
  WITAN_DO(readMessage(noteBytes, notes, "notes"));
  for (NoteSnapshot& note : notes.notes) {
    if (note.outcome >= enumNames<Outcome>().size()) return corrupt("a note with an unknown outcome");
    notes_.emplace_back(static_cast<Outcome>(note.outcome), std::move(note.message));
  }
  WITAN_TRY(batches, readSealed(store, snapshotChunkKey('b', number)));
  if (batches.size() % 8 != 0) return corrupt("a snapshot's batch list is cut");
  for (std::size_t at = 0; at < batches.size(); at += 8) {
    std::uint64_t first = 0;
    std::memcpy(&first, batches.data() + at, 8);
    firstSeqs.push_back(first);
  }
  return okStatus();
}

namespace {

struct EntityParts {
  EntitySnapshot snapshot;
  std::string_view state;  // borrowed
};

Result<EntityParts> entityParts(std::string_view payload) {
  std::array<std::uint64_t, 2> sizes{};
  std::memcpy(&sizes, payload.data(), std::min(payload.size(), sizeof sizes));
  const auto [length, all] = sizes;
  // Behind it stands what an earlier snapshot of more parts left.
  if (all > payload.size() || all < sizeof sizes || length > all - sizeof sizes)
    return corrupt("a snapshot of an entity is cut");
  const std::string_view rest = payload.substr(sizeof sizes, all - sizeof sizes);
  EntityParts parts;
  WITAN_DO(readMessage(rest.substr(0, length), parts.snapshot, "entity snapshot"));
  parts.state = rest.substr(length);
  return parts;
}

using VisitEntity = std::function<Status(std::string_view entity, std::string_view payload)>;

// Each with all its parts.
Status forEachEntity(const store::Reader& store, const VisitEntity& visit) {
  Status status = okStatus();
  std::string entity, parts;
  const auto finish = [&] {
    if (!entity.empty()) status = visit(entity, parts);
    return status.ok();
  };
  WITAN_DO(store.scan(kSnapshotEntityPrefix, {}, [&](std::string_view key, std::string_view value) {
    key.remove_prefix(kSnapshotEntityPrefix.size());
    const std::string_view of = key.substr(0, key.find('\n'));
    if (of != entity && !finish()) return false;
    if (of != entity) entity = of, parts.clear();
    auto part = unsealSnapshot(value);
    status = part.ok() ? okStatus() : Status(part.error());
    if (part.ok()) parts += *part;
    return status.ok();
  }));
  if (status.ok()) (void)finish();
  return status;
}

}  // namespace

Status Partition::restoreEntity(std::string_view entity, std::string_view payload) {
  WITAN_TRY(parts, entityParts(payload));
  EntitySnapshot& s = parts.snapshot;
  WITAN_TRY(parsed, parseJson(parts.state, {.bytes = parts.state.size(), .depth = 64}));
  if (!parsed.is_object()) return corrupt("a snapshot's state is no object");
  auto instance = std::make_unique<Instance>();
  WITAN_TRY(state, module_->readState(parsed.get_object()));
  instance->state = std::move(state);
  instance->state->notPassing = s.notPassing;
  instance->digest = s.digest;
  instance->genesis = std::move(s.genesis);
  instance->genesisHash = s.genesisHash;
  instance->firstSeq = s.firstSeq;
  instance->lastSeq = s.lastSeq;
  if (s.pendingSeq != 0) {
    WITAN_TRY(bytes, entryBytes(s.pendingSeq));
    WITAN_TRY(words, alignedWords(bytes));
    WITAN_TRY(entry, readEntryView({reinterpret_cast<const char*>(words.data()), words.size() * 8}));
    if (entry.entity != entity || entry.tag != Tag::escalated)
      return corrupt("a snapshot freezes an entity by an entry that does not");
    WITAN_DO(freeze(*instance, entry, leafHash(bytes)));
  }
  instances_.emplace(std::string(entity), std::move(instance));
  return okStatus();
}

Result<std::optional<std::uint64_t>> Partition::restoreSnapshot(const store::Reader& store,
                                                                std::vector<std::uint64_t>& firstSeqs,
                                                                const std::vector<std::string>& earlier) {
  WITAN_TRY(sealed, store.get(kSnapshotHeadKey));
  if (!sealed) return std::optional<std::uint64_t>();
  WITAN_TRY(payload, unsealSnapshot(*sealed));
  SnapshotHead head;
  WITAN_DO(readMessage(payload, head, "snapshot"));
  const bool mine = head.module == module_->digest() || std::ranges::find(earlier, toHex(head.module)) != earlier.end();
  if (head.version != kSnapshotVersion || !mine) return corrupt("the snapshot is of another version or module");
  WITAN_TRY(frontier,
            MerkleFrontier::parse({reinterpret_cast<const char*>(head.frontier.data()), head.frontier.size()}));
  frontier_ = std::move(frontier);
  batch_.reset(frontier_.size() + 1);
  for (std::uint64_t number = 0; number < head.chunks; ++number) WITAN_DO(restoreChunk(store, number, firstSeqs));
  for (std::size_t i = 0; i < firstSeqs.size(); ++i)
    if (firstSeqs[i] < (i == 0 ? 1 : firstSeqs[i - 1]) || firstSeqs[i] > frontier_.size() + 1 ||
        (i == 0 && firstSeqs[i] != 1))
      return corrupt("the snapshot's batch list is out of order");
  for (const auto& [key, answer] : operations_)
    if (const std::uint64_t seq = answer & ~kTurnedAwayBit;
        (answer & kIsNoteBit) != 0 ? (answer & ~kIsNoteBit) >= notes_.size() : seq == 0 || seq > frontier_.size())
      return corrupt("the snapshot names an answer that is not there");
  if (firstSeqs.size() != head.batches) return corrupt("the snapshot's batch list is not complete");
  WITAN_DO(forEachEntity(
      store, [&](std::string_view entity, std::string_view parts) { return restoreEntity(entity, parts); }));
  if (instances_.size() != head.entities) return corrupt("the snapshot does not hold all its entities");
  unsafeCommits_ = head.unsafeCommits;
  epochs_ = std::move(head.epochs);
  latest_ = Time{head.latest};
  snapshotChunks_ = head.chunks;
  snapshotNotes_ = notes_.size();
  return std::optional(head.batches);
}

Status visitSnapshot(const store::Reader& store, const SnapshotVisit& visit) {
  WITAN_TRY(sealed, readSealed(store, kSnapshotHeadKey));
  SnapshotHead head;
  WITAN_DO(readMessage(sealed, head, "snapshot"));
  if (visit.epochs) visit.epochs(head.epochs);
  for (std::uint64_t number = 0; number < head.chunks; ++number) {
    WITAN_DO(forEachOperation(store, number, [&](const DigestPrefix& key, std::uint64_t answer) {
      if ((answer & kIsNoteBit) == 0) visit.operation(key, (answer & kTurnedAwayBit) != 0);
    }));
    WITAN_DO(forEachRun(store, number, visit.run));
  }
  return forEachEntity(store, [&](std::string_view entity, std::string_view payload) -> Status {
    WITAN_TRY(parts, entityParts(payload));
    return visit.entity(entity, parts.snapshot, parts.state);
  });
}

}  // namespace witan::kernel
