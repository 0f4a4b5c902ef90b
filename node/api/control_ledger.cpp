// The shared state as this device has it: entries, slices, and whether it all verifies.
#include "base/bytes.h"
#include "base/quote.h"
#include "base/string_util.h"
#include "base/utf8.h"
#include "kernel/record/entry.h"
#include "node/api/control_routes.h"
#include "node/ledgers/ledger_place.h"
#include "node/ledgers/ledger_rows.h"
#include "node/ledgers/suffix_rows.h"
#include "node/slices/bound_roles.h"
#include "node/witness/witness_rounds.h"
#include "replica/core/placement.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(LedgerRequest, (Omittable<std::string>, domain, "Entries of this domain only"),
             (Omittable<std::string>, partition, "Entries of this partition only"),
             (Omittable<std::string>, entity, "Entries of this entity only"),
             (Omittable<std::uint64_t>, after,
              "The oldest entries after this number, of one partition; default: the newest entries"),
             (Omittable<bool>, bytes, "true: with the bytes of each entry; with `after` only"),
             (Omittable<std::uint64_t>, limit, "Most entries to give, at most 10000; default: 20"))

WITAN_STRUCT(
    LedgerEntry, (std::uint64_t, seq, "Number of the entry in its partition"), (Time, time, "When it was decided"),
    (kernel::Tag, tag, "Kind of the entry"), (Omittable<std::string>, entity, "Id of the entity"),
    (Omittable<std::string>, role, "Role of the proposer"),
    (Omittable<std::string>, device, "Id of the proposer's device"),
    (Omittable<std::string>, agent, "Id of the proposing agent"),
    (Omittable<std::string>, operationId, "Id of the operation"),
    (Omittable<std::string>, runKey, "Key of the agent's run"),
    (Omittable<std::string>, planDigest, "Digest of the agent's plan"), (Omittable<json::value>, action, "The action"),
    (Omittable<std::string>, invariant, "Invariant that did not pass"),
    (Omittable<std::string>, message, "Message of that invariant"),
    (Omittable<json::value>, writes, "Fields that the entry writes"),
    (ByName<kernel::InvResult>, verdicts, "Result by invariant, of those that were evaluated"),
    (Omittable<std::vector<FindingRow>>, findings, "Every invariant that did not pass"),
    (Omittable<std::string>, counselor, "Name of the counselor"),
    (Omittable<std::uint64_t>, escalation, "Number of the escalation that is decided"),
    (Omittable<std::string>, reason, "Reason that was given"),
    (Omittable<json::value>, decision, "Base and edit of a commit"),
    (std::string, stateDigest, "Digest of the entity's states up to this entry"),
    (Omittable<json::value>, genesis, "Domain, policy and partition of a first entry"),
    (Omittable<std::uint64_t>, epoch, "Of the first entry of an epoch: its number"),
    (Omittable<std::string>, owner, "Of the same: the epoch's owner"),
    (Omittable<std::string>, shown, "Digest of what the counselor was shown"),
    (Omittable<std::string>, signature, "The counselor's key and signature of the answer, in hex"),
    (Omittable<std::string>, proof, "That the device asked for this, in hex (docs/ledger-format.md, section 10)"))

WITAN_STRUCT(LedgerRow, (std::string, partition, "DOMAIN/NUMBER"),
             (std::uint64_t, seq, "Number of the entry in its partition"),
             (std::string, leafHash, "Hash of the entry's bytes as a leaf of the Merkle tree"),
             (std::string, story, "The entry in one line"),
             (Omittable<std::string>, bytes, "The entry's bytes in base64 (docs/ledger-format.md)"),
             (std::optional<LedgerEntry>, entry, "The entry; null: its bytes are damaged"))

WITAN_STRUCT(LedgerRows, (JsonAs<std::vector<LedgerRow>>, entries, "Entries, oldest first"))

WITAN_STRUCT(StreamRequest, (Omittable<std::string>, domain, "Entries of this domain only"),
             (Omittable<std::string>, partition, "Entries of this partition only: DOMAIN/NUMBER"),
             (Omittable<std::string>, entity, "Entries of this entity only"))

WITAN_STRUCT(VerifyRequest, (Omittable<bool>, replay, "true: decides every entry again"))

WITAN_STRUCT(LedgerVerdict, (std::string, partition, "DOMAIN/NUMBER"), (std::uint64_t, entries, "Number of entries"),
             (std::string, root, "Root of the Merkle tree"),
             (std::uint64_t, signedEntries, "Entries that the newest head of its owner covers"),
             (std::uint64_t, cosignedEntries,
              "Entries under the newest head that another device or a witness signed, too"),
             (Omittable<std::uint64_t>, prunedEntries,
              "The first so many were pruned here: only their hashes, and what they add up to, were checked"),
             (std::optional<std::string>, problem, "The first problem; null: none"))

WITAN_STRUCT(VerifyReport, (bool, ok, "Whether no ledger has a problem"),
             (std::uint64_t, entries, "Entries of all ledgers"),
             (std::string, root, "Hash over all roots: equal on devices with equal ledgers"),
             (std::vector<LedgerVerdict>, ledgers, "Ledgers with entries or problems"))

WITAN_STRUCT(SliceRequest, (std::string, domain, "Name of the domain", 1), (std::string, entity, "Id of the entity", 1),
             (Omittable<std::string>, role, "Fields that this role sees; default: all, on a device with ledgers"),
             (Omittable<std::string>, key,
              "Only the rows that belong to this key, as the domain says; default: all, or those of the key to which a "
              "device without ledgers is bound",
              1))

WITAN_STRUCT(SliceShown, (std::string, domain, "Name of the domain"), (std::string, entity, "Id of the entity"),
             (std::string, role, "Role whose fields are shown; empty: all fields"),
             (Omittable<std::string>, key, "Only rows that belong to this key are shown"),
             (std::string, partition, "DOMAIN/NUMBER"), (bool, frozen, "Whether the entity waits for a counselor"),
             (Omittable<Time>, at, "When the slice was made, on a device without ledgers"),
             (Omittable<std::int64_t>, ageSeconds, "Age of the slice, on a device without ledgers"),
             (json::value, state, "Fields of the entity by name, its clock and its waivers"))

WITAN_STRUCT(SuffixRequest, (std::string, suffix, "Id of the suffix", 1),
             (Omittable<std::uint64_t>, after, "Records after this place; default: from the first one"),
             (Omittable<std::uint64_t>, limit, "Most records to give, at most 1000; default: 100"))

constexpr std::uint64_t kMostEntries = 10'000;
constexpr std::uint64_t kMostSuffixRecords = 1'000;

// The newest `limit` of each partition, then of all of them by time; with `after`, the oldest of one partition.
Result<LedgerRows> ledger(const ApiContext& context, const LedgerRequest& request) {
  WITAN_DO(needsLedgers(context.daemon));
  Replica& replica = context.daemon.replica();
  const RowFilter filter{request.domain.value_or(""), request.partition.value_or(""), request.entity.value_or("")};
  const std::size_t most = std::min(request.limit.value_or(20), kMostEntries);
  if (request.after && filter.partition.empty()) return invalid("query.after: needs a partition");
  WITAN_TRY(rows, request.after ? rowsAfter(replica, filter, *request.after, most, request.bytes.value_or(false))
                                : newestRows(replica, filter, most));
  return LedgerRows{{std::move(rows)}};
}

// How far a stream is in each partition: an event's id, and what Last-Event-ID gives back.
using Places = std::map<std::string, LedgerPlace, std::less<>>;

constexpr std::size_t kMostResumed = 1'000, kMostResumedBytes = 512 * 1024;  // at once; the reader comes again
constexpr std::size_t kMostIdBytes = 12 * 1024;  // the head of a request has room for 16 KiB
constexpr std::string_view kBegin = "0";         // before every entry
constexpr std::string_view kTooLong = "too-long";

// Places (node/ledgers/ledger_place.h) with commas between them, that of the event first.
std::string idOf(const Places& places, const std::string& first = {}) {
  std::string text;
  const auto add = [&](const std::string& partition, const LedgerPlace& place) {
    text += concat(text.empty() ? "" : ",", partition, "/", place.text());
  };
  if (!first.empty()) add(first, places.at(first));
  for (const auto& [partition, place] : places)
    if (partition != first && place.seq > 0) add(partition, place);
  if (text.size() > kMostIdBytes) return std::string(kTooLong);
  return text.empty() ? std::string(kBegin) : text;
}

// Errors: invalid; notFound, there is no such partition here.
Result<Places> placesIn(Replica& replica, std::string_view text) {
  Places places;
  if (text == kBegin) return places;
  if (text == kTooLong)
    return invalid("Last-Event-ID: this stream was of too many partitions to be taken up again",
                   "read one domain or one partition in each stream");
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    auto read = readPlace(one);
    if (!read.ok()) return invalid("Last-Event-ID: " + read.error().message, read.error().hint);
    const auto& [partition, place] = *read;
    if (const auto damaged = replica.damagedPartitions().find(partition); damaged != replica.damagedPartitions().end())
      return damaged->second;
    const PartitionHost* host = replica.host(partition);
    if (host == nullptr)
      return notFound("Last-Event-ID: this device keeps no partition " + inQuotes(partition),
                      "see: witan partition list");
    if (place.seq > 0 && place.seq < host->firstEntry())
      return notFound(concat("Last-Event-ID: entries before ", host->firstEntry(), " of ", partition,
                             " were pruned here, so some after ", place.seq, " are missing"),
                      "ask a device that keeps every entry (witan partition list), or begin again without it");
    if (!places.emplace(partition, place).second)
      return invalid("Last-Event-ID: two places in " + partition, "give back the id of one event");
  }
  return places;
}

// One reader's.
struct LedgerStream {
  std::shared_ptr<net::HttpStream> stream;
  RowFilter filter;
  Places places;
  std::size_t entries = 0, bytes = 0;

  void send(const PartitionHost& host, const StoredEntry& entry) {
    if (!filter.takes(host) || !filter.takes(entry)) return;
    places[host.id()] = placeOf(host, entry);
    const std::string row = canonicalJson(entryRow(host, entry));
    stream->send("entry", row, idOf(places, host.id()));
    ++entries, bytes += row.size();
  }
  // What the reader may have of this partition from entry `from` on is not in the ledger.
  Status part(const PartitionHost& host, std::uint64_t from) {
    const auto at = places.find(host.id());
    if (at == places.end() || at->second.seq < from) return okStatus();
    WITAN_SET(at->second, placeAt(host, from - 1));
    stream->send("parted", canonicalJson({{"partition", host.id()}, {"from", from}}), idOf(places, host.id()));
    return okStatus();
  }
  // An entry became durable. Where a log parted, it has a number that was given before.
  Status told(const PartitionHost& host, const StoredEntry& entry) {
    WITAN_DO(part(host, entry.seq));
    send(host, entry);
    return okStatus();
  }
  // Logs that are shorter than they were. O(partitions).
  Status look(Replica& replica) {
    for (const auto& [id, place] : places) {
      const PartitionHost* host = replica.host(id);
      if (host == nullptr || host->entries() >= place.seq) continue;
      WITAN_TRY(last, lastDurable(*host));
      WITAN_DO(part(*host, last + 1));
    }
    return okStatus();
  }
  // What the reader has missed. False: there is more.
  Result<bool> catchUp(Replica& replica) {
    for (const auto& [id, host] : replica.hosts()) {
      if (!filter.takes(*host)) continue;
      WITAN_TRY(from, partedFrom(*host, places[id]));
      if (from) WITAN_DO(part(*host, *from));
      const std::uint64_t next = std::max(places[id].seq + 1, host->firstEntry());
      WITAN_TRY(n, batchWith(host->rows(), host->durableBatches(), next));
      for (; n < host->durableBatches(); ++n) {
        if (entries >= kMostResumed || bytes >= kMostResumedBytes) return false;
        WITAN_DO(visitBatch(host->rows(), n, [&, copy = host.get()](const StoredEntry& entry) {
          if (entry.seq > places[copy->id()].seq) send(*copy, entry);
        }));
      }
    }
    return true;
  }
};

// A log that parted may stay without a new entry for long: the reader hears of it within this time.
constexpr std::int64_t kLookMs = 1'000;

void lookAgain(Daemon& daemon, const std::shared_ptr<LedgerStream>& reader) {
  daemon.later(kLookMs, [&daemon, reader] {
    if (!reader->stream->open()) return;
    reader->look(daemon.replica()).ok() ? lookAgain(daemon, reader) : reader->stream->close();  // it comes again
  });
}

void stream(const ApiContext& context, const StreamRequest& request) {
  Daemon& daemon = context.daemon;
  const auto reader = std::make_shared<LedgerStream>();
  reader->filter = {request.domain.value_or(""), request.partition.value_or(""), request.entity.value_or("")};
  const auto last = context.request.headers.find("last-event-id");
  const bool resumes = last != context.request.headers.end() && !last->second.empty();
  const Status begun = [&]() -> Status {
    WITAN_DO(needsLedgers(daemon));
    if (resumes) {
      WITAN_SET(reader->places, placesIn(daemon.replica(), last->second));
      std::erase_if(reader->places,
                    [&](const auto& place) { return !reader->filter.takes(*daemon.replica().host(place.first)); });
      return okStatus();
    }
    for (const auto& [id, host] : daemon.replica().hosts()) {
      if (!reader->filter.takes(*host)) continue;
      WITAN_TRY(newest, lastDurable(*host));
      WITAN_SET(reader->places[id], placeAt(*host, newest));
    }
    return okStatus();
  }();
  if (!begun.ok()) return context.responder.refuse(begun.error());
  const StreamPlaces::Place place = context.streams.take(context.role);
  if (!place) return context.responder.refuse(noStreamPlace());
  reader->stream = context.responder.reply->stream({});
  reader->stream->onGone([place] {});
  if (resumes) {
    const auto whole = reader->catchUp(daemon.replica());
    if (!whole.ok() || !*whole) return reader->stream->close();  // with what was sent the reader comes again
  } else {
    reader->stream->write(concat("id: ", idOf(reader->places), "\n\n"));  // no event: where it begins
  }
  const std::uint64_t handle = daemon.follow([reader](PartitionHost& host, const StoredEntry& entry) {
    if (!reader->told(host, entry).ok()) reader->stream->close();
  });
  lookAgain(daemon, reader);
  reader->stream->onGone([&daemon, handle] { daemon.unfollow(handle); });
}

Result<JsonAs<VerifyReport>> verify(const ApiContext& context, const VerifyRequest& request) {
  WITAN_DO(needsLedgers(context.daemon));
  WITAN_TRY(report,
            verifyHosts(context.daemon.replica(), context.daemon.dir().ledgers(), request.replay.value_or(false)));
  if (const WitnessRounds* witnesses = context.daemon.witnesses())
    for (json::value& ledger : report.at("ledgers").as_array()) {
      const auto* head = witnesses->published(ledger.at("partition").as_string());
      json::value& covered = ledger.at("cosignedEntries");
      if (head != nullptr && covered.to_number<std::uint64_t>() < head->size) covered = head->size;
    }
  return JsonAs<VerifyReport>{std::move(report)};
}

Result<SuffixRows> suffixes(const ApiContext& context, const Nothing&) {
  return suffixRows(context.daemon.dir().ledgers());
}

Result<SuffixRecords> recordsOfSuffix(const ApiContext& context, const SuffixRequest& request) {
  return suffixRecords(context.daemon.dir().ledgers(), request.suffix, request.after.value_or(0),
                       std::min(request.limit.value_or(100), kMostSuffixRecords));
}

// Of a device that keeps no ledgers: what it received, and how old that is.
Result<SliceShown> receivedSlice(Daemon& daemon, const SliceRequest& request) {
  const std::string role = request.role.value_or("");
  if (role.empty())
    return invalid("query.role: this device keeps no ledgers, only slices of roles", "give one of its roles");
  Omittable<std::string> key = request.key;
  if (!key && daemon.me() != nullptr && !daemon.me()->mayAct(request.domain, role)) {
    const auto keys = keysOf(*daemon.me(), request.domain, role);
    if (keys.size() > 1)
      return invalid("query.key: this device has the role " + role + " for several keys", "give one: " + joined(keys));
    if (!keys.empty()) key = keys.front();
  }
  const std::string name = key ? concat(role, ":", *key) : role;
  WITAN_TRY(found, daemon.slices().find(request.domain, request.entity, name));
  if (!found)
    return Error{ErrorCode::notFound,
                 "no slice of " + inQuotes(request.entity) + " for the role " + name + " was received",
                 "does this device have the role? witan device roster"};
  SliceShown shown{request.domain, request.entity, role, key, found->partition, found->frozen};
  shown.at = found->time;
  shown.ageSeconds = (daemon.now().wall.micros - found->time.micros) / 1'000'000;
  WITAN_SET(shown.state, parseJson(found->state, kOwnJson));
  return shown;
}

Result<SliceShown> keptSlice(const PartitionHost& host, const SliceRequest& request, kernel::FieldMask mask) {
  const kernel::EntityState* state = host.partition().state(request.entity);
  if (state == nullptr) return Error{ErrorCode::notFound, "there is no entity " + inQuotes(request.entity), ""};
  std::string text;
  if (request.key) {
    WITAN_TRY(slices, slicesOf(host.module()));
    slices->writeSlice(text, *state, mask, *request.key);
  } else {
    host.module().writeState(text, *state, mask);
  }
  SliceShown shown{
      request.domain,
      request.entity,
      request.role.value_or(""),
      request.key,
      host.id(),
      request.key ? frozenFor(host, request.entity, *request.key) : host.partition().frozen(request.entity)};
  WITAN_SET(shown.state, parseJson(text, kOwnJson));
  return shown;
}

// The fields that the asked role sees.
Result<kernel::FieldMask> maskOf(Daemon& daemon, const SliceRequest& request) {
  WITAN_TRY(module, moduleNamed(daemon, request.domain));
  const std::string role = request.role.value_or("");
  if (role.empty()) return ~kernel::FieldMask{0};
  for (const kernel::RoleInfo& info : module->signature().roles)
    if (info.name == role) return info.footprint;
  return Error{ErrorCode::notFound, "the domain " + request.domain + " has no role " + inQuotes(role), ""};
}

void slice(const ApiContext& context, const SliceRequest& request, Later<SliceShown> later) {
  Replica& replica = context.daemon.replica();
  const auto mask = maskOf(context.daemon, request);
  if (!mask.ok()) return later.refuse(mask.error());
  const std::string partition = replica.partitionFor(request.domain, request.entity);
  const PartitionHost* host = replica.host(partition);
  if (host == nullptr && !replica.hosts().empty() && replica.placement().partial(partition))
    return later.refuse(needsCopy(context.daemon, partition).error());
  if (host == nullptr) return later.answer(receivedSlice(context.daemon, request));
  context.daemon.readers().read(
      {host->id()},
      [later, request, mask](const PartitionHost& copy) { later.answer(keptSlice(copy, request, *mask)); },
      [later](const Status& read) {
        if (!read.ok()) later.refuse(read.error());
      });
}

}  // namespace

std::vector<ControlRoute> ledgerRoutes() {
  using enum ControlRole;
  return {
      get("/v1/ledger", "listLedgerEntries", "ledger", observer, "Entries of this device's copies, newest last", ledger,
          {404, 500}),
      streamRoute<LedgerRow>(
          {"GET",
           "/v1/ledger/stream",
           "streamLedger",
           "ledger",
           observer,
           "New entries as server-sent events `entry`, each a LedgerRow, and `parted` {\"partition\",\"from\"}: what "
           "was sent from entry `from` on is not in the ledger. With Last-Event-ID from that event on; 0: from the "
           "first entry on that this device has",
           {},
           "text/event-stream"},
          stream),
      get("/v1/ledger/verify", "verifyLedgers", "ledger", observer, "Checks every ledger of this device", verify,
          {500}),
      get("/v1/ledger/suffixes", "listSuffixes", "ledger", observer,
          "Divergent suffixes: what a takeover took out of this device's logs", suffixes, {500}),
      get("/v1/ledger/suffixes/records", "listSuffixRecords", "ledger", observer,
          "The entries and beginnings of a divergent suffix, and how each is asked for again", recordsOfSuffix,
          {404, 500}),
      get("/v1/slice", "readSlice", "ledger", observer, "The fields of an entity that a role sees", slice, {404, 500})};
}

}  // namespace witan::node::api
