#include "replica/graph_triggers.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/mutant.h"
#include "base/quote.h"
#include "domains/graph/state.h"
#include "replica/core/partition_host.h"
#include "replica/replica.h"
#include "replication/records/journal_entity.h"

namespace witan::node {

using graph::TriggerSource;
using replication::DatabaseName;
using replication::Kind;

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

json::object toldBy(const agents::LedgerFact& fact) {
  return {{"domain", fact.domain},
          {"entity", fact.entity},
          {"field", fact.field},
          {"key", fact.key},
          {"value", fact.value}};
}

// Of this graph, which its ledger tells while it may matter: what a run did a horizon ago enters nowhere.
bool isRunOf(const kernel::EntityState* graph, const Hash& run) {
  return run != Hash{} && domains::graph::runIn(graph, graph::Digest(toHex(run))).has_value();
}

}  // namespace

std::string wrongTriggers(const graph::Document& document, std::span<const kernel::DomainModule* const> domains) {
  for (const graph::Node& node : document.nodes) {
    if (!node.trigger) continue;
    const graph::Trigger& trigger = *node.trigger;
    const std::string place = "node " + node.id + ": trigger: ";
    if (trigger.source == TriggerSource::manual && !trigger.match.empty()) return place + trigger.match;
    if (trigger.source != TriggerSource::ledger) continue;
    const auto isIt = [&](const kernel::DomainModule* one) { return one->signature().domain == trigger.match; };
    const auto domain = std::ranges::find_if(domains, isIt);
    if (domain == domains.end()) return concat(place, "there is no domain ", inQuotes(trigger.match));
    const auto& fields = (*domain)->signature().fields;
    const auto field = std::ranges::find(fields, trigger.field, &kernel::FieldInfo::name);
    if (!trigger.field.empty() && (field == fields.end() || !field->isColumn))
      return concat(place, trigger.match, " has no column ", inQuotes(trigger.field), " (witan domain show ",
                    trigger.match, ")");
  }
  return {};
}

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
  source.edits.look(*space, [&](const replication::Record& record) { entities.emplace_back(record.key()); });
  std::ranges::sort(entities);
  entities.erase(std::unique(entities.begin(), entities.end()), entities.end());
  for (const std::string& entity : entities) {
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
        const bool own = one.fact.domain == "graph" || mutated("ownLedgerAnywhere");
        if (one.fact.entity == graph_ && own) continue;
        const std::string external = "ledger:" + graph::identityOf(canonicalJson(toldBy(one.fact))).substr(0, 32);
        const std::int64_t atMs = one.time.micros / 1000;
        source.waiting.try_emplace({atMs, external}, Arrival{"", {}, std::move(one)});
      }
      ++cursor.batches;
    }
    cursor.stamp(*partition, before);
  }
  return more;
}

Result<GraphTriggers::Told> GraphTriggers::editTold(Replica& replica, const std::string& scope, const Arrival& arrival,
                                                    const kernel::EntityState* own) {
  WITAN_TRY(space, replica.data().database(DatabaseName::journal).space(scope));
  WITAN_TRY(view, journalViewIn(*space, arrival.entity));
  const auto edit = std::ranges::find(view.siblings, arrival.dot, &replication::Sibling::dot);
  if (edit == view.siblings.end() || !edit->body) return Told{};  // another has taken its place, and arrived itself
  Told told{json::object(), edit->body->hops};
  if (edit->body->operationId) {  // its record came with the edit
    WITAN_TRY(records, space->versions(Kind::operation, toHex(*edit->body->operationId)));
    for (const replication::Version& record : records) {
      const auto made = replication::decodeRecord<replication::OperationBody>(record.body);
      if (made.ok() && isRunOf(own, made->runKey)) return Told{};
    }
  }
  auto payload = parseJson(edit->body->payload, {.bytes = replication::kMaxRecordBytes, .depth = 64});
  if (payload.ok() && payload->is_object()) told.message = std::move(payload->get_object());
  (*told.message)["id"] = arrival.entity;
  return told;
}

Result<GraphTriggers::Told> GraphTriggers::factTold(Replica& replica, const std::string& scope, const Arrival& arrival,
                                                    const kernel::EntityState* own) {
  if (isRunOf(own, arrival.event.maker.run)) return Told{};
  WITAN_TRY(hops, hopsBehind(replica.data().database(DatabaseName::agents).find(scope), arrival.event.maker));
  return Told{toldBy(arrival.event.fact), hops};
}

Status GraphTriggers::offer(Replica& replica, const std::string& scope, const graph::Document& document,
                            const kernel::EntityState* own, std::int64_t nowMs, const Enter& enter) {
  for (Source& source : sources_) {
    const graph::Node* node = document.node(source.ingress);
    const graph::MessageType* type = node == nullptr ? nullptr : document.type(node->out.at(0));
    if (type == nullptr) continue;
    for (auto next = source.waiting.begin(); next != source.waiting.end() && next->first.first <= nowMs;) {
      const auto& [at, arrival] = *next;
      Told told;
      if (at.first >= source.sinceMs && nowMs - at.first <= document.horizonMs) {
        WITAN_SET(told, source.trigger.source == TriggerSource::ledger ? factTold(replica, scope, arrival, own)
                                                                       : editTold(replica, scope, arrival, own));
      }
      if (told.message && !told.hops) {
        ++next;
        continue;
      }
      if (told.message && !enter(source.ingress, at.second, cutTo(type->schema, *told.message), *told.hops)) break;
      next = source.waiting.erase(next);
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
