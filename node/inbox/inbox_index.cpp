#include "node/inbox/inbox_index.h"

#include <algorithm>

#include "agents/host/agent_host.h"
#include "agents/memory/compactor.h"
#include "agents/memory/thread.h"
#include "agents/wake/agent_conflict.h"
#include "agents/wake/host_choice.h"
#include "base/bytes.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "node/inbox/refused_answers.h"
#include "node/inbox/seen_items.h"
#include "replication/records/record_views.h"
#include "saga/saga_rows.h"

namespace witan::node {

using namespace replication;

std::optional<std::pair<InboxKind, std::string>> InboxIndex::partsOf(std::string_view id) {
  const std::size_t colon = id.find(':');
  if (colon == id.npos) return std::nullopt;
  const auto kind = parseEnum<InboxKind>(id.substr(0, colon));
  if (!kind) return std::nullopt;
  return std::pair(*kind, std::string(id.substr(colon + 1)));
}

std::string InboxIndex::incidentKey(const Incident& incident) {
  return toHex(sha256(canonicalJson(json::array{incident.kind, incident.peer, incident.what}))).substr(0, 16);
}

const InboxPlace* InboxIndex::find(const std::string& id) const {
  const auto parts = partsOf(id);
  const auto at = byId_.find(id);
  if (!parts || at == byId_.end()) return nullptr;
  const auto place = of(parts->first).find({at->second, id});
  return place == of(parts->first).end() ? nullptr : &*place;
}

void InboxIndex::put(InboxKind kind, std::string_view key, std::int64_t atMs) {
  std::string id = idOf(kind, key);
  std::set<InboxPlace>& places = places_[static_cast<std::size_t>(kind)];
  const auto [at, fresh] = byId_.try_emplace(id, atMs);
  if (!fresh && at->second == atMs) return;
  if (!fresh) places.erase({std::exchange(at->second, atMs), id});
  places.insert({atMs, id});
  if (fresh) new_.push_back({atMs, std::move(id)});
}

void InboxIndex::remove(InboxKind kind, std::string_view key) {
  const auto at = byId_.find(idOf(kind, key));
  if (at == byId_.end()) return;
  places_[static_cast<std::size_t>(kind)].erase({at->second, at->first});
  std::erase_if(new_, [&](const InboxPlace& one) { return one.id == at->first; });
  gone_.push_back(at->first);
  byId_.erase(at);
}

void InboxIndex::replace(InboxKind kind, const std::map<std::string, std::int64_t>& all) {
  std::vector<std::string> gone;
  for (const InboxPlace& place : of(kind))
    if (std::string key = partsOf(place.id)->second; !all.contains(key)) gone.push_back(std::move(key));
  for (const std::string& key : gone) remove(kind, key);
  for (const auto& [key, atMs] : all) put(kind, key, atMs);
}

Status InboxIndex::look(agents::AgentHost* agents) {
  WITAN_DO(lookAtApprovals());
  WITAN_DO(lookAtConflicts());
  WITAN_DO(lookAtOperations(agents));
  WITAN_DO(lookAtFolds(agents));
  WITAN_DO(lookAtIncidents());
  return lookAtRefusals();
}

Status InboxIndex::seen(const std::string& id, const SeenItem& seen) {
  const auto parts = partsOf(id);
  if (!parts || find(id) == nullptr) return notFound("nothing waits under " + inQuotes(id), "see: witan inbox");
  const auto& [kind, key] = *parts;
  const bool ends = kind == InboxKind::incident || kind == InboxKind::expired ||
                    (kind == InboxKind::fold && !failedFolds_.contains(SummaryId::parse(key).value()));
  if (!ends) return invalid("item: " + id + " goes when it is answered", "see: witan inbox " + id);
  noteSeen(replica_.database(DatabaseName::agents), kind, key, seen);
  remove(kind, key);
  return okStatus();
}

Status InboxIndex::addKnown(InboxKind kind, std::set<std::string>& changed) const {
  for (const InboxPlace& place : of(kind)) changed.insert(partsOf(place.id)->second);
  WITAN_TRY(seen, seenItems(replica_.database(DatabaseName::agents), kind));
  for (const auto& [key, one] : seen) changed.insert(key);
  return okStatus();
}

Status InboxIndex::forgetIfSeen(InboxKind kind, std::string_view key) {
  Database& rows = replica_.database(DatabaseName::agents);
  WITAN_TRY(seen, isSeen(rows, kind, key));
  if (seen) forgetSeen(rows, kind, key);
  return okStatus();
}

namespace {

// The question ended without an answer in its time.
bool hasExpired(const ApprovalBody& body) {
  if (body.verdict == ApprovalVerdict::denied)
    return body.by == kNobodyAnswered && (body.untilMs == 0 || body.atMs >= body.untilMs);
  return isLate(body);
}

}  // namespace

Status InboxIndex::lookAtApprovals() {
  Space* records = replica_.database(DatabaseName::agents).find(scope_);
  if (records == nullptr) return okStatus();
  std::set<std::string> changed;
  if (approvals_.look(*records, [&](const Record& record) { changed.emplace(record.key()); })) {
    WITAN_DO(addKnown(InboxKind::approval, changed));
    WITAN_DO(addKnown(InboxKind::expired, changed));
  }
  WITAN_DO(noteDestroyed(*records, changed));
  std::map<std::string, bool> destroyed;  // by agent
  for (const std::string& key : changed) WITAN_DO(judgeApproval(*records, key, destroyed));
  return okStatus();
}

Status InboxIndex::judgeApproval(Space& records, const std::string& key, std::map<std::string, bool>& destroyed) {
  const auto operation = OperationId::parse(key);
  if (!operation.ok()) return okStatus();
  WITAN_TRY(versions, records.versions(Kind::approval, key));
  const ApprovalView view = approvalViewOf(*operation, versions);
  bool waits = view.shown && view.shown->body.verdict == ApprovalVerdict::waiting;
  bool expired = view.shown && hasExpired(view.shown->body);
  if (waits || expired) {
    const auto [agent, fresh] = destroyed.try_emplace(view.shown->body.agentId);
    if (fresh) {
      WITAN_TRY(lifecycle, agents::lifecycleIn(records, agent->first));
      agent->second = lifecycle == Lifecycle::destroyed;
    }
    waits = waits && !agent->second, expired = expired && !agent->second;
  }
  if (expired) {
    WITAN_TRY(seen, isSeen(replica_.database(DatabaseName::agents), InboxKind::expired, key));
    expired = !seen;
  }
  if (!view.shown) WITAN_DO(forgetIfSeen(InboxKind::expired, key));
  waits ? put(InboxKind::approval, key, view.shown->body.atMs) : remove(InboxKind::approval, key);
  expired ? put(InboxKind::expired, key, view.shown->body.atMs) : remove(InboxKind::expired, key);
  return okStatus();
}

Status InboxIndex::noteDestroyed(Space& records, std::set<std::string>& changed) {
  std::set<std::string> states;
  states_.look(records, [&](const Record& record) { states.emplace(record.key()); });
  if (of(InboxKind::approval).empty() && of(InboxKind::expired).empty()) return okStatus();
  bool any = false;
  for (const std::string& agent : states) {
    WITAN_TRY(lifecycle, agents::lifecycleIn(records, agent));
    any = any || lifecycle == Lifecycle::destroyed;
  }
  for (const InboxKind kind : {InboxKind::approval, InboxKind::expired})
    for (const InboxPlace& place : any ? of(kind) : std::set<InboxPlace>()) changed.insert(partsOf(place.id)->second);
  return okStatus();
}

Status InboxIndex::lookAtConflicts() {
  Space* journal = replica_.database(DatabaseName::journal).find(scope_);
  if (journal == nullptr) return okStatus();
  std::set<std::string> changed = std::exchange(settling_, {});
  const bool lost = edits_.look(*journal, [&](const Record& record) {
    if (record.versions.size() > 1)
      changed.emplace(record.key());
    else
      remove(InboxKind::conflict, record.key());
  });
  if (lost)
    for (const InboxPlace& place : of(InboxKind::conflict)) changed.insert(partsOf(place.id)->second);
  for (const std::string& id : changed) WITAN_DO(judgeConflict(*journal, id));
  return okStatus();
}

Status InboxIndex::judgeConflict(Space& journal, const std::string& id) {
  WITAN_TRY(view, journalViewIn(journal, id));
  if (!view.inConflict()) return remove(InboxKind::conflict, id), okStatus();
  WITAN_TRY(settler, agents::settlerOf(replica_, scope_, journal, view));
  if (settler) {
    WITAN_TRY(records, replica_.database(DatabaseName::agents).space(scope_));
    WITAN_TRY(members, replica_.membership());
    std::vector<std::string> devices = members.presentDevices();
    devices.push_back(replica_.device());
    WITAN_TRY(job, agents::conflictJob(*settler, scope_, id, view));
    WITAN_TRY(run, agents::runView(*records, job.key()));
    const bool ended = run.run && isTerminal(run.run->body.status);
    if (!ended && !agents::hostsAmong(*records, *settler, devices).empty()) {
      settling_.insert(id);
      return remove(InboxKind::conflict, id), okStatus();
    }
  }
  std::int64_t atMs = 0;
  for (const Sibling& one : view.siblings)
    if (one.body && (atMs == 0 || one.body->editedAtMs < atMs)) atMs = one.body->editedAtMs;
  put(InboxKind::conflict, id, atMs);
  return okStatus();
}

Status InboxIndex::lookAtOperations(const agents::AgentHost* agents) {
  if (agents != nullptr && heldChanges_ == agents->heldChanges()) return okStatus();
  heldChanges_.reset();
  if (agents != nullptr) heldChanges_ = agents->heldChanges();
  std::map<std::string, std::int64_t> all;
  const saga::SagaRows rows(replica_.database(DatabaseName::agents), 0);
  WITAN_DO(rows.visitHeld([&](saga::SagaRow&& row) { all.emplace(row.id().hex(), row.updatedAtMs); }));
  replace(InboxKind::operation, all);
  return okStatus();
}

Status InboxIndex::lookAtIncidents() {
  WITAN_TRY(incidents, replica_.incidents());
  std::map<std::string, std::int64_t> all;
  for (const Incident& incident : incidents) all.emplace(incidentKey(incident), 0);
  Database& rows = replica_.database(DatabaseName::agents);
  WITAN_TRY(seen, seenItems(rows, InboxKind::incident));
  for (const auto& [key, one] : seen)
    if (all.erase(key) == 0) forgetSeen(rows, InboxKind::incident, key);  // if it happens anew, it waits anew
  replace(InboxKind::incident, all);
  return okStatus();
}

Status InboxIndex::lookAtRefusals() {
  WITAN_TRY(refused, RefusedAnswers::in(replica_.database(DatabaseName::agents)));
  std::map<std::string, std::int64_t> all;
  for (const auto& [operation, one] : refused) all.emplace(operation, one.at.micros / 1000);
  replace(InboxKind::refusal, all);
  return okStatus();
}

Status InboxIndex::lookAtFolds(agents::AgentHost* agents) {
  std::optional<agents::Compactor> stored;  // of a node without agents
  if (agents == nullptr) {
    stored.emplace(replica_, agents::CompactionOptions{.scope = scope_});
    WITAN_DO(stored->load({}));
  }
  std::set<std::string> changed;
  auto known = failedFolds_.begin();  // both are in the order of their ids
  const auto gone = [&] {
    changed.insert(known->first.hex());
    known = failedFolds_.erase(known);
  };
  for (const auto& [id, waiting] : (stored ? *stored : agents->memory()).jobs()) {
    if (waiting.job.status != agents::FoldStatus::failed) continue;
    while (known != failedFolds_.end() && known->first < id) gone();
    if (known == failedFolds_.end() || id < known->first) known = failedFolds_.emplace_hint(known, id, -1);
    if (std::exchange(known->second, waiting.job.dueAtMs) != waiting.job.dueAtMs) changed.insert(id.hex());
    ++known;
  }
  while (known != failedFolds_.end()) gone();
  if (Space* records = replica_.database(DatabaseName::agents).find(scope_))
    if (summaries_.look(*records, [&](const Record& record) {
          if (record.versions.size() > 1) changed.emplace(record.key());
        }))
      WITAN_DO(addKnown(InboxKind::fold, changed));
  for (const std::string& key : changed) WITAN_DO(judgeFold(key));
  return okStatus();
}

// One that failed here is tried again first: the texts of others may take its place then.
Status InboxIndex::judgeFold(const std::string& key) {
  const auto id = SummaryId::parse(key);
  if (!id.ok()) return okStatus();
  if (const auto failed = failedFolds_.find(*id); failed != failedFolds_.end())
    return put(InboxKind::fold, key, failed->second), okStatus();
  Database& rows = replica_.database(DatabaseName::agents);
  std::vector<Version> versions;
  if (Space* records = rows.find(scope_)) {
    WITAN_SET(versions, records->versions(Kind::summary, key));
  }
  if (versions.empty()) WITAN_DO(forgetIfSeen(InboxKind::fold, key));
  bool listed = !summaryViewOf(*id, versions).conflicts.empty();
  if (listed) {
    WITAN_TRY(seen, isSeen(rows, InboxKind::fold, key));
    listed = !seen;
  }
  listed ? put(InboxKind::fold, key, 0) : remove(InboxKind::fold, key);
  return okStatus();
}

}  // namespace witan::node
