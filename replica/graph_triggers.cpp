#include "replica/graph_triggers.h"

#include <algorithm>

#include "base/bytes.h"
#include "replica/core/partition_host.h"
#include "replica/replica.h"
#include "replication/records/journal_entity.h"

namespace witan::node {

using graph::TriggerSource;
using replication::DatabaseName;

namespace {

constexpr std::size_t kMostTriggered = 10'000;  // facts that wait for room; then the ledger is not read on
constexpr unsigned kTriggerBatches = 256;       // of one partition a round: the device does other things, too

// The members that the type has.
json::object cutTo(const graph::Schema& type, const json::object& from) {
  json::object message;
  for (const auto& [name, schema] : type.properties)
    if (const json::value* value = from.if_contains(name)) message[name] = *value;
  return message;
}

std::optional<json::object> editedAt(replication::Space& space, const std::string& entity,
                                     const replication::Dot& dot) {
  const auto view = journalViewIn(space, entity);
  if (!view.ok()) return std::nullopt;
  for (const replication::Sibling& one : view->siblings) {
    if (!(one.dot == dot) || !one.body) continue;
    auto payload = parseJson(one.body->payload, {.bytes = replication::kMaxRecordBytes, .depth = 64});
    json::object message;
    if (payload.ok() && payload->is_object()) message = std::move(payload->get_object());
    message["id"] = entity;
    return message;
  }
  return std::nullopt;  // another edit has taken its place, and arrived itself
}

json::object toldBy(const agents::LedgerFact& fact) {
  return {{"domain", fact.domain},
          {"entity", fact.entity},
          {"field", fact.field},
          {"key", fact.key},
          {"value", fact.value}};
}

}  // namespace

void GraphTriggers::deployed(const graph::Document& document, std::int64_t atMs) {
  graph_ = document.id;
  std::vector<Source> sources;
  for (const graph::Node& node : document.nodes) {
    if (node.kind != graph::NodeKind::ingress || !node.trigger) continue;
    if (node.trigger->source != TriggerSource::journal && node.trigger->source != TriggerSource::ledger) continue;
    const auto before = std::ranges::find_if(
        sources_, [&](const Source& one) { return one.ingress == node.id && one.trigger == *node.trigger; });
    sources.push_back(before != sources_.end() ? std::move(*before)
                                               : Source{.ingress = node.id, .trigger = *node.trigger, .sinceMs = atMs});
  }
  sources_ = std::move(sources);
}

Result<bool> GraphTriggers::look(Replica& replica, const std::string& scope) {
  bool more = false;
  for (Source& source : sources_) {
    if (source.trigger.source == TriggerSource::journal) {
      WITAN_DO(lookAtJournal(replica, scope, source));
    } else {
      WITAN_TRY(rest, lookAtLedgers(replica, source));
      more = more || rest;
    }
  }
  return more;
}

Status GraphTriggers::lookAtJournal(Replica& replica, const std::string& scope, Source& source) {
  WITAN_TRY(space, replica.data().database(DatabaseName::journal).space(scope));
  std::vector<std::string> entities;
  source.edits.look(*space, [&](const replication::Record& record) { entities.push_back(record.key); });
  std::ranges::sort(entities);
  entities.erase(std::unique(entities.begin(), entities.end()), entities.end());
  for (const std::string& entity : entities) {
    if (entity.starts_with(graph_ + "/")) continue;  // its own effects
    WITAN_TRY(view, journalViewIn(*space, entity));
    for (const replication::Sibling& one : view.siblings) {
      if (!one.body || one.body->type != source.trigger.match) continue;
      const std::string external =
          "journal:" +
          graph::identityOf(concat(scope, "|", entity, "|", one.dot.host, "|", one.dot.counter)).substr(0, 32);
      source.waiting.try_emplace({one.body->editedAtMs, external}, Arrival{entity, one.dot, {}});
    }
  }
  return okStatus();
}

Result<bool> GraphTriggers::lookAtLedgers(Replica& replica, Source& source) {
  const agents::LedgerSpec spec{source.ingress, source.trigger.match, source.trigger.field, source.trigger.value};
  bool more = false;
  for (const auto& [id, partition] : replica.hosts()) {
    if (partition->module().signature().domain != spec.domain) continue;
    LedgerCursor& cursor = source.cursors[id];
    const std::uint64_t before = cursor.batches;
    cursor.align(*partition);
    for (unsigned n = 0; cursor.batches < partition->durableBatches(); ++n) {
      if (source.waiting.size() >= kMostTriggered) break;
      if (n == kTriggerBatches) {
        more = true;
        break;
      }
      WITAN_TRY(facts, ledgerFactsIn(*partition, cursor.batches, spec));
      for (LedgerEvent& one : facts) {
        if (one.fact.entity == graph_ && one.fact.domain == "graph") continue;
        const std::string external = "ledger:" + graph::identityOf(canonicalJson(toldBy(one.fact))).substr(0, 32);
        source.waiting.try_emplace({one.time.micros / 1000, external}, Arrival{"", {}, std::move(one.fact)});
      }
      ++cursor.batches;
    }
    cursor.stamp(*partition, before);
  }
  return more;
}

Status GraphTriggers::offer(Replica& replica, const std::string& scope, const graph::Document& document,
                            std::int64_t nowMs, const Enter& enter) {
  for (Source& source : sources_) {
    const graph::Node* node = document.node(source.ingress);
    const graph::MessageType* type = node == nullptr ? nullptr : document.type(node->out.at(0));
    if (type == nullptr) continue;
    while (!source.waiting.empty() && source.waiting.begin()->first.first <= nowMs) {
      const auto& [at, arrival] = *source.waiting.begin();
      const bool counts = at.first >= source.sinceMs && nowMs - at.first <= document.horizonMs;
      std::optional<json::object> told;
      if (counts && source.trigger.source == TriggerSource::ledger) {
        told = toldBy(arrival.fact);
      } else if (counts) {
        WITAN_TRY(space, replica.data().database(DatabaseName::journal).space(scope));
        told = editedAt(*space, arrival.entity, arrival.dot);
      }
      if (told && !enter(source.ingress, at.second, cutTo(type->schema, *told))) break;
      source.waiting.erase(source.waiting.begin());
    }
  }
  return okStatus();
}

std::optional<std::int64_t> GraphTriggers::nextMs(std::int64_t nowMs) const {
  std::optional<std::int64_t> next;
  for (const Source& source : sources_)
    if (const auto at = source.waiting.lower_bound({nowMs + 1, ""}); at != source.waiting.end())
      next = std::min(next.value_or(at->first.first), at->first.first);
  return next;
}

}  // namespace witan::node
