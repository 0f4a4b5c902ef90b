#include "replication/local_replica.h"

#include <algorithm>
#include <tuple>

#include "base/dense.h"
#include "base/json_codec.h"
#include "base/mutant.h"
#include "replication/sealed_scope.h"
#include "replication/space_rows.h"
#include "replication/sync_messages.h"
#include "replication/writer.h"

namespace witan::replication {

namespace {

constexpr std::string_view kWriterRow = "writer";
constexpr std::string_view kRetiredRow = "retired";     // the latest of this device's own retirements that was noticed
constexpr std::string_view kAckRow = "ack/";            // + space + "|" + device -> clock, when
constexpr std::string_view kRestoredRow = "restored/";  // + space
constexpr std::string_view kRecalledRow = "recalled/";  // + space -> clock: own acks from which was concluded
constexpr std::string_view kIncidentRow = "incident/";  // + number
constexpr std::string_view kQuarantineRow = "quarantine/";

std::string encodeClock(const VectorClock& clock) {
  std::string out;
  DenseWriter to(out);
  to.varint(clock.entries().size());
  for (const auto& [host, counter] : clock.entries()) to.idText(host), to.varint(counter);
  return out;
}

// When a device was last heard of is kept too: else after every restart all would seem silent since 1970.
struct AckRow {
  VectorClock clock;
  std::int64_t heardMs = 0;
};

std::string encodeAck(const AckRow& row) {
  std::string out = encodeClock(row.clock);
  DenseWriter(out).varint(static_cast<std::uint64_t>(row.heardMs));
  return out;
}

VectorClock decodeClock(DenseReader& from) {
  VectorClock clock;
  const std::uint64_t n = from.count(kMaxWriters);
  for (std::uint64_t i = 0; i < n && from.ok(); ++i) {
    const std::string host = from.idText(kMaxIdBytes);
    clock.set(host, from.varint());
  }
  return clock;
}

Result<AckRow> decodeAck(std::string_view bytes) {
  DenseReader from(bytes);
  AckRow row{.clock = decodeClock(from), .heardMs = static_cast<std::int64_t>(from.varint())};
  WITAN_DO(from.finish("a row of acknowledgements"));
  return row;
}

std::string numbered(std::string_view prefix, std::uint64_t number) {
  std::string row(prefix);
  rows::putBigEndian(row, number, 8);
  return row;
}

}  // namespace

std::string LocalReplica::spaceId(DatabaseName database, std::string_view scope) {
  return concat(toString(database), "/", scope);
}

Result<std::unique_ptr<LocalReplica>> LocalReplica::open(store::Store& journal, store::Store& agents,
                                                         const RecordSchemas& schemas, ReplicaOptions options) {
  WITAN_DO(validateDeviceId("device", options.device));
  WITAN_DO(validateId("cluster", options.cluster));
  std::unique_ptr<LocalReplica> replica(new LocalReplica(schemas, std::move(options)));
  replica->key_ = std::make_unique<FingerprintKey>(replica->options_.clusterKey);
  const auto& [cluster, keys] = std::tie(replica->options_.cluster, replica->options_.rowKeys);
  WITAN_SET(replica->journal_, Database::open(journal, DatabaseName::journal, *replica->key_, schemas, cluster, keys));
  WITAN_SET(replica->agents_, Database::open(agents, DatabaseName::agents, *replica->key_, schemas, cluster, keys));
  WITAN_DO(replica->start());
  return replica;
}

// Which writer goes on here; the cluster's space exists from the start.
Status LocalReplica::start() {
  WITAN_TRY(stored, agents_->meta(kWriterRow));
  WITAN_DO(loadAcks());
  WITAN_DO(agents_->scanMeta(kRestoredRow, [&](std::string_view row, std::string_view) {
    restored_.emplace(row.substr(kRestoredRow.size()));
    return true;
  }));
  if (stored && deviceOf(*stored) != options_.device)
    return conflict(concat("the databases journal and agents of this directory are those of device ", deviceOf(*stored),
                           ", and this device is ", options_.device),
                    "take them away (agents/*.agent.toml may stay); what that device wrote comes from it by a link");
  if (stored) writer_ = *stored;
  if (stored && options_.trustStore) {
    WITAN_DO(journal_->become(writer_));
    WITAN_DO(agents_->become(writer_));
  } else {
    StoreIncarnation incarnation;
    if (stored) incarnation = {*stored, ownCounters()};
    if (mutated("firstSpaceOnly") && options_.highWater && options_.highWater->ok()) {
      auto& spaces = (*options_.highWater)->spaces;
      if (!spaces.empty()) spaces.erase(std::next(spaces.begin()), spaces.end());
      std::erase_if(incarnation.counters, [&](const auto& one) { return !spaces.contains(one.first); });
    }
    decision_ = decideIncarnation(incarnation, options_.highWater);
    if (!decision_.newIncarnation() || (stored && mutated("reuseCounters"))) {
      WITAN_DO(journal_->become(writer_));
      WITAN_DO(agents_->become(writer_));
    } else {
      const bool fresh = decision_.cause == IncarnationCause::freshStore;
      WITAN_DO(reincarnate(fresh ? "" : decision_.why));
      // Old contents of unknown age: what peers have outlived must go before it spreads again.
      if (!fresh)
        for (const std::string& id : spaceIds())
          if (!mutated("restoredOwnOnly") || incarnation.counters[id] > 0) setRestored(id, true);
    }
  }
  WITAN_TRY(space, agents_->space(kClusterScope));
  (void)space;
  return okStatus();
}

Status LocalReplica::reincarnate(std::string_view why) {
  WITAN_CHECK(options_.freshTag != nullptr, "whoever opens a replica can draw a tag");
  writer_ = writerName(options_.device, options_.freshTag());
  bornHere_ = true;
  agents_->putMeta(kWriterRow, writer_);
  WITAN_DO(journal_->become(writer_));
  WITAN_DO(agents_->become(writer_));
  if (!why.empty()) note({"newIncarnation", "", concat(why, "; goes on as ", writer_)});
  return okStatus();
}

std::map<std::string, std::uint64_t, std::less<>> LocalReplica::ownCounters() const {
  std::map<std::string, std::uint64_t, std::less<>> out;
  for (Database* database : {journal_.get(), agents_.get()})
    for (const auto& [scope, space] : database->spaces())
      if (const auto index = space->writers().find(writer_))
        out[spaceId(database->name(), scope)] = space->vector().at(*index);
  return out;
}

HighWater LocalReplica::highWater() const {
  HighWater record{writer_, {}};
  for (const auto& [id, counter] : ownCounters()) record.spaces[id] = leaseFrom(counter);
  return record;
}

HighWater LocalReplica::closedHighWater() const {
  HighWater record{writer_, {}};
  for (const auto& [id, counter] : ownCounters()) record.spaces[id] = closedLease(counter);
  return record;
}

Result<Dot> LocalReplica::commit(DatabaseName name, std::string_view scope, std::span<const Write> writes) {
  for (const Write& write : writes) {
    const KindTraits& traits = schemas_.traits(write.kind);
    if ((name == DatabaseName::journal ? traits.journal : traits.agents) || mutated("linkInJournal")) continue;
    return invalid(concat(traits.name, " records do not live in the ", toString(name), " database"));
  }
  const bool cluster = name == DatabaseName::agents && scope == kClusterScope;
  if (copiesOnly_ && !cluster)
    return Error{ErrorCode::unauthorised,
                 concat("this device keeps encrypted copies only: it writes nothing in ", scope),
                 "use a device with another role"};
  for (const Write& write : writes) {
    if (cluster && write.kind != kStatementKind)
      return invalid(concat("the scope ", kClusterScope, " holds statements about membership only"));
    if (isSealedScope(scope) && write.kind != kSealedCopyKind)
      return invalid(concat("the scope ", scope, " holds encrypted copies only"), "choose another name for a scope");
  }
  WITAN_TRY(space, database(name).space(scope));
  return space->commit(writes);
}

Status LocalReplica::flush() {
  WITAN_DO(journal_->flush());
  return agents_->flush();
}

// --- other devices

std::uint64_t LocalReplica::acksHash(std::string_view id, const Space& space) {
  std::optional<std::uint64_t>& hash = acked_[&space].hash;
  if (hash) return *hash;
  std::string all;
  if (const auto at = acks_.entries().find(id); at != acks_.entries().end())
    for (const auto& [device, clock] : at->second) {
      DenseWriter(all).text(device);
      all += encodeClock(clock);
    }
  return *(hash = key_->hash64(all));
}

Status LocalReplica::loadAcks() {
  Status status = okStatus();
  WITAN_DO(agents_->scanMeta(kAckRow, [&](std::string_view row, std::string_view value) {
    row.remove_prefix(kAckRow.size());
    auto ack = decodeAck(value);
    const std::size_t bar = row.find('|');
    if (!ack.ok() || bar == std::string_view::npos)
      status = corrupt(concat("the row of acknowledgements ", row));
    else
      acks_.record(row.substr(0, bar), row.substr(bar + 1), ack->clock, ack->heardMs);
    return status.ok();
  }));
  return status;
}

void LocalReplica::noteAck(std::string_view space, std::string_view device, const VectorClock& committed,
                           std::int64_t atMs) {
  if (!acks_.record(space, device, committed, atMs)) return;
  Acked& acked = acked_[findSpace(space)];
  acked.news = ++ackNews_;
  acked.hash.reset();
  agents_->putMeta(concat(kAckRow, space, "|", device),
                   encodeAck({acks_.acked(space, device), std::max<std::int64_t>(0, atMs)}));
}

void LocalReplica::noteOwnAck(std::string_view id, const Space& space) {
  std::optional<std::uint64_t>& noted = acked_[&space].own;
  if (noted == space.changes()) return;
  noteAck(id, device(), space.clock(), 0);
  noted = space.changes();
}

Result<std::vector<Statement>> LocalReplica::statements() {
  std::vector<Statement> out;
  Space* space = agents_->find(kClusterScope);
  if (space == nullptr) return out;
  for (const std::string& key : space->keys(kStatementKind)) {
    WITAN_TRY(versions, space->versions(kStatementKind, key));
    for (const Version& version : versions) {
      if (version.tombstone) continue;
      WITAN_TRY(statement, decodeStatement(version.body));
      // A device cannot speak for another one. After a new incarnation it may say again what it said under its old
      // name; a settled equivocation may stand under somebody else's dot: held and passed on, but it does not count.
      if (deviceOf(statement.writer) != deviceOf(version.dot.host)) continue;
      out.push_back(std::move(statement));
    }
  }
  return out;
}

Status LocalReplica::addStatement(const Statement& statement) {
  if (deviceOf(statement.writer) != device())
    return Error{ErrorCode::unauthorised, writer() + " speaks for " + statement.writer,
                 "each device speaks for itself"};
  const Write write{kStatementKind, concat(statement.writer, ":", statement.number), encodeStatement(statement), false};
  WITAN_TRY(dot, commit(DatabaseName::agents, kClusterScope, {&write, 1}));
  (void)dot;
  return okStatus();
}

Result<std::size_t> LocalReplica::acknowledgeRetirements() {
  WITAN_TRY(members, membership());
  const std::vector<Member> due = acksDue(members, device());
  if (due.empty()) return std::size_t{0};
  ClocksBySpace committed;
  for (const std::string& id : spaceIds()) committed[id] = findSpace(id)->clock();
  const std::vector<AckedCounter> counters = countersToAck(members, committed);
  for (const Member& member : due) {
    WITAN_TRY(known, statements());
    WITAN_DO(addStatement(retireAck(known, writer(), member.device, member.admission, counters)));
  }
  return due.size();
}

Result<const LocalReplica::KnownMembers*> LocalReplica::members() {
  const Space* cluster = agents_->find(kClusterScope);
  const std::uint64_t changes = cluster == nullptr ? 0 : cluster->changes();
  if (members_ && members_->changes == changes) return &*members_;
  WITAN_TRY(all, statements());
  Membership members = membershipOf(all, mayRetire_);
  std::vector<std::string> present = members.presentDevices();
  members_ = {std::move(members), std::move(present), changes};
  ++readings_;
  return &*members_;
}

std::vector<std::string> LocalReplica::waitedFor(DatabaseName database, std::string_view scope,
                                                 const KnownMembers& known) const {
  std::vector<std::string> devices = known.present;
  const bool cluster = database == DatabaseName::agents && scope == kClusterScope;
  if (!mayHave_ || cluster) return devices;
  if (!mayHave_(device(), database, scope)) return {};
  std::erase_if(devices, [&](const std::string& one) { return !mayHave_(one, database, scope); });
  return devices;
}

Result<std::vector<std::string>> LocalReplica::waitedFor(std::string_view id) {
  WITAN_TRY(known, members());
  for (const DatabaseName name : {DatabaseName::journal, DatabaseName::agents})
    if (const std::string prefix = spaceId(name, ""); id.starts_with(prefix))
      return waitedFor(name, id.substr(prefix.size()), *known);
  return invalid(concat(id, " names no space"));
}

Result<Membership> LocalReplica::membership() {
  WITAN_TRY(known, members());
  return known->members;
}

Status LocalReplica::noticeOwnRetirement(const Membership& members) {
  std::uint32_t latest = 0;
  for (const RetiredMember& retired : members.retired)
    if (retired.member.device == device()) latest = std::max(latest, retired.member.admission);
  if (latest == 0) return okStatus();
  WITAN_TRY(known, agents_->meta(kRetiredRow));
  const std::string now = std::to_string(latest);
  if (known && (*known == now || mutated("retiredOnce"))) return okStatus();
  agents_->putMeta(kRetiredRow, now);
  for (const std::string& id : spaceIds())
    if (id != spaceId(DatabaseName::agents, kClusterScope) && !mutated("retiredIsWhole")) setRestored(id, true);
  return mutated("retiredKeepsName") ? okStatus() : reincarnate("this device was retired (admission " + now + ")");
}

Status LocalReplica::stabilise() {
  WITAN_TRY(known, members());
  if (!known->present.empty() && !mutated("keepOldAcks")) forgetAcksOfOthers(known->present);
  for (const Database* database : {agents_.get(), journal_.get()})
    for (const auto& [scope, space] : database->spaces()) stabilise(database->name(), scope, *space, *known);
  return okStatus();
}

void LocalReplica::stabilise(DatabaseName database, const std::string& scope, Space& space, const KnownMembers& known) {
  Acked& acked = acked_[&space];
  const auto now = [&] { return Acked::Tidied{space.changes(), acked.news, readings_, space.writers().size()}; };
  if (acked.tidied == now()) return;
  const std::string id = spaceId(database, scope);
  const Membership& members = known.members;
  if (const auto finals = members.finals.find(id); finals != members.finals.end())
    for (const auto& [writer, final] : finals->second.entries()) space.retire(writer, final);
  // This device never had a commit of theirs.
  for (const auto& [name, index] : space.writers().byName())
    if (space.vector().at(index) == 0 && members.standing(deviceOf(name)) == Standing::retired) space.retire(name, 0);
  if (restored(id)) return;
  noteOwnAck(id, space);
  std::vector<std::string> waited = waitedFor(database, scope, known);
  if (mutated("ignoreUnheard"))
    std::erase_if(waited, [&](const std::string& one) { return acks_.acked(id, one).entries().empty(); });
  const VectorClock stable = acks_.stable(id, waited);
  // Who joins through a copy that had gone back in time has to hear of it.
  if (id != spaceId(DatabaseName::agents, kClusterScope)) noteAck(id, kForgotten, stable, 0);
  VersionVector vector;
  for (const auto& [writer, counter] : stable.entries())
    if (const auto index = space.writers().find(writer)) vector.raise(*index, counter);
  if (!space.stabilise(vector)) acked.tidied = now();
}

void LocalReplica::forgetAcksOfOthers(std::span<const std::string> present) {
  const std::pair look(ackNews_, readings_);
  if (std::exchange(onlyMembers_, look) == look) return;
  std::vector<std::string> gone, kept(present.begin(), present.end());
  kept.insert(std::ranges::lower_bound(kept, kForgotten), std::string(kForgotten));
  for (const auto& [space, devices] : acks_.entries())
    for (const auto& [device, clock] : devices)
      if (!std::ranges::binary_search(kept, device)) gone.push_back(concat(kAckRow, space, "|", device));
  if (gone.empty()) return;
  for (const std::string& row : gone) agents_->eraseMeta(row);
  acks_.keepOnly(kept);
  for (auto& [space, acked] : acked_) acked.hash.reset(), acked.own.reset(), acked.tidied.reset();
}

bool LocalReplica::restored(std::string_view space) const { return restored_.contains(space); }

void LocalReplica::setRestored(std::string_view space, bool restored) {
  const std::string row = concat(kRestoredRow, space);
  if (restored) {
    restored_.emplace(space);
    agents_->putMeta(row, "1");
  } else {
    restored_.erase(std::string(space));
    if (!mutated("keepRestoredRow")) agents_->eraseMeta(row);
  }
}

// --- what went wrong

void LocalReplica::note(Incident incident) {
  const auto groupOf = [](const Incident& one) { return concat(one.kind, "|", one.peer); };
  if (nextIncident_ == 0) {
    // The numbers go on after a restart.
    Status scanned = agents_->scanMeta(kIncidentRow, [&](std::string_view row, std::string_view text) {
      nextIncident_ = rows::bigEndian(row.substr(kIncidentRow.size()));
      noted_.emplace(text);
      Incident kept;
      if (const auto parsed = parseJson(text); parsed.ok()) (void)readJson(*parsed, kept, "incident");
      incidentsOf_.emplace(nextIncident_, groupOf(kept));
      return true;
    });
    (void)scanned;
  }
  // The same evidence turns up in every session until somebody has dealt with it.
  const std::string text = toJson(incident);
  if (noted_.size() >= kMaxIncidents) noted_.clear();
  if (!noted_.insert(text).second) return;
  agents_->putMeta(numbered(kIncidentRow, ++nextIncident_), text);
  const std::string group = groupOf(incident);
  incidentsOf_.emplace(nextIncident_, group);
  const auto ofGroup = [&](const auto& one) { return one.second == group; };
  const bool tooMany = !incident.peer.empty() &&
                       static_cast<std::size_t>(std::ranges::count_if(incidentsOf_, ofGroup)) > kMaxIncidentsOfOne;
  if (!tooMany && incidentsOf_.size() <= kMaxIncidents) return;
  const auto oldest = tooMany ? std::ranges::find_if(incidentsOf_, ofGroup) : incidentsOf_.begin();
  agents_->eraseMeta(numbered(kIncidentRow, oldest->first));
  incidentsOf_.erase(oldest);
}

Result<std::vector<Incident>> LocalReplica::incidents() const {
  std::vector<Incident> out;
  Status status = okStatus();
  WITAN_DO(agents_->scanMeta(kIncidentRow, [&](std::string_view, std::string_view text) {
    auto parsed = parseJson(text);
    if (parsed.ok()) status = readJson(*parsed, out.emplace_back(), "incident");
    return parsed.ok() && status.ok();
  }));
  WITAN_DO(status);
  return out;
}

void endIncidents(LocalReplica& replica, std::string_view kind, std::string_view device, std::string_view text) {
  Database& agents = replica.database(DatabaseName::agents);
  std::vector<std::string> over;
  const Status scanned = agents.scanMeta(kIncidentRow, [&](std::string_view row, std::string_view kept) {
    Incident incident;
    const auto parsed = parseJson(kept);
    if (parsed.ok() && readJson(*parsed, incident, "incident").ok() && incident.kind == kind &&
        incident.peer == device && incident.what.starts_with(text))
      over.emplace_back(row);
    return true;
  });
  (void)scanned;
  for (const std::string& row : over) agents.eraseMeta(row);
}

void LocalReplica::quarantine(std::string_view device, std::string_view why) {
  agents_->putMeta(concat(kQuarantineRow, device), why);
  note({"quarantine", std::string(device), std::string(why)});
}

void LocalReplica::pardon(std::string_view device) {
  agents_->eraseMeta(concat(kQuarantineRow, device));
  rollbacks_.erase(std::string(device));
  recalls_.erase(std::string(device));
}

std::optional<std::string> LocalReplica::quarantined(std::string_view device) const {
  auto row = agents_->meta(concat(kQuarantineRow, device));
  return row.ok() ? *row : std::nullopt;
}

Result<std::map<std::string, std::string>> LocalReplica::quarantines() const {
  std::map<std::string, std::string> out;
  WITAN_DO(agents_->scanMeta(kQuarantineRow, [&](std::string_view row, std::string_view why) {
    out.emplace(row.substr(kQuarantineRow.size()), why);
    return true;
  }));
  return out;
}

Status LocalReplica::judgeClaim(Space& space, std::string_view id, std::string_view peer, const VectorClock& claimed) {
  const std::uint64_t issued = space.vector().at(space.self());
  const OwnClaim claim{std::string(peer),
                       std::string(id),
                       writer_,
                       claimed.at(writer_),
                       issued,
                       bornHere_,
                       rollbacks_[std::string(peer)]};
  const ClaimJudgement judgement = judgeOwnClaim(claim);
  switch (judgement.verdict) {
    case ClaimVerdict::plausible: return okStatus();
    case ClaimVerdict::lie:
      quarantine(peer, judgement.why);
      return Error{ErrorCode::unauthorised, judgement.why, concat("witan device recover ", peer, " lifts it")};
    case ClaimVerdict::rolledBack: break;
  }
  ++rollbacks_[std::string(peer)];
  note({"rolledBack", std::string(peer), judgement.why});
  for (const std::string& other : spaceIds())
    if (!mutated("shownSpaceOnly") || other == id) setRestored(other, true);
  return reincarnate(judgement.why);
}

Status LocalReplica::dotWasTaken(std::string_view peer, std::string_view why) {
  if (rollbacks_[std::string(peer)]++ < kMaxRollbacksByPeer) return reincarnate(why);
  const std::string lie = concat(peer, " shows other contents of this device's own commits again and again: ", why);
  quarantine(peer, lie);
  return Error{ErrorCode::unauthorised, lie, concat("witan device recover ", peer, " lifts it")};
}

Status LocalReplica::judgeAck(Space& space, std::string_view id, std::string_view peer, const VectorClock& acked) {
  // Statements are never replaced, and who holds nothing brings nothing back.
  if (id == spaceId(DatabaseName::agents, kClusterScope) || space.digest().count == 0) return okStatus();
  VectorClock known = space.clock();
  if (le(acked, known)) return okStatus();
  const std::string row = concat(kRecalledRow, id);
  WITAN_TRY(stored, agents_->meta(row));
  VectorClock recalled;
  if (stored) {
    DenseReader from(*stored);
    recalled = decodeClock(from);
    WITAN_DO(from.finish("a row of acknowledgements"));
  }
  ClaimJudgement judgement = judgeClock(peer, id, known, acked);
  known.join(recalled);
  if (le(acked, known)) return okStatus();
  unsigned& believed = recalls_[std::string(peer)][std::string(id)];
  if (judgement.verdict != ClaimVerdict::lie && !restored(id) && ++believed > kMaxRollbacksByPeer)
    judgement = {ClaimVerdict::lie,
                 concat(peer, " says again and again that this device had acknowledged more ", "of space ", id)};
  if (judgement.verdict == ClaimVerdict::lie) {
    quarantine(peer, judgement.why);
    return Error{ErrorCode::unauthorised, judgement.why, concat("witan device recover ", peer, " lifts it")};
  }
  recalled.join(acked);
  agents_->putMeta(row, encodeClock(recalled));
  if (restored(id)) return okStatus();
  note({"olderCopy", std::string(peer),
        concat(id,
               ": this device had acknowledged more than it has: its store "
               "went back in time")});
  setRestored(id, true);
  return okStatus();
}

std::vector<std::string> LocalReplica::spaceIds() const {
  std::vector<std::string> out;
  for (const Database* database : {journal_.get(), agents_.get()})
    for (const auto& [scope, space] : database->spaces()) out.push_back(spaceId(database->name(), scope));
  std::ranges::sort(out);
  return out;
}

Space* LocalReplica::findSpace(std::string_view id) {
  for (const DatabaseName name : {DatabaseName::journal, DatabaseName::agents}) {
    const std::string prefix = spaceId(name, "");
    if (id.starts_with(prefix)) return database(name).find(id.substr(prefix.size()));
  }
  return nullptr;
}

}  // namespace witan::replication
