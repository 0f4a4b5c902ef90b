// What waits for people at a node: the index, and the hooks that are told of it.
#include <algorithm>

#include "domains/graph/state.h"
#include "node/daemon/daemon.h"
#include "node/tools/tool_broker.h"
#include "replica/core/partition_host.h"
#include "replica/graph_runtime.h"

namespace witan::node {

namespace {

std::set<std::string> questionsOf(const PartitionHost& host, const std::string& graph) {
  std::set<std::string> ids;
  for (const domains::graph::Question& asked : domains::graph::questionsIn(host.partition().state(graph)))
    ids.insert(InboxIndex::idOf(InboxKind::question, asked.span));
  return ids;
}

}  // namespace

Result<InboxIndex*> Daemon::inbox() {
  WITAN_DO(inbox_->look(replica().agents()));
  const std::vector<InboxPlace> fresh = inbox_->takeNew();
  const std::vector<std::string> gone = inbox_->takeGone();
  for (std::size_t i = 0; hooks_ && i < gone.size(); ++i) hooks_->gone(gone[i]);
  for (std::size_t i = 0; hooks_ && i < fresh.size(); ++i) hooks_->come(fresh[i]);
  return inbox_.get();
}

Status Daemon::openHooks() {
  if (config_.hooks.empty()) return okStatus();
  const bool signs = std::ranges::any_of(config_.hooks, [](const HookConfig& hook) { return !hook.secret.empty(); });
  if (signs) {
    WITAN_SET(hookSecrets_, secretsIn(path_, config_.secretKey));
  }
  WITAN_SET(hooks_, InboxHooks::open({loop_, log_, replica().data().database(replication::DatabaseName::agents),
                                      replica().device(), [this] { scheduleTick(); }},
                                     config_.hooks, hookSecrets_));
  std::set<InboxPlace> proposals;
  std::map<std::string, std::set<std::string>> questions;  // by graph
  for (const auto& [id, host] : replica().hosts()) {
    if (host->module().signature().domain == kGraphDomain)
      for (const std::string& graph : host->partition().entities()) questions[graph] = questionsOf(*host, graph);
    for (const kernel::PendingView& one : host->partition().queue())
      proposals.insert({one.at.micros / 1000, InboxIndex::proposalId(id, one.seq)});
  }
  WITAN_TRY(index, inbox());
  WITAN_DO(hooks_->forgetOthers([&](const std::string& id) {
    return index->find(id) != nullptr || std::ranges::any_of(proposals, [&](auto& one) { return one.id == id; }) ||
           std::ranges::any_of(questions, [&](auto& one) { return one.second.contains(id); });
  }));
  for (const InboxPlace& one : proposals) hooks_->come(one);
  for (auto& [graph, ids] : questions) hooks_->asks(graph, std::move(ids));
  follow([this](PartitionHost& host, const StoredEntry& entry) {
    if (!hooks_) return;
    if (host.module().signature().domain == kGraphDomain) changedGraphs_.emplace(entry.entry.entity);
    if (entry.entry.tag == kernel::Tag::escalated)
      hooks_->come({entry.entry.time.micros / 1000, InboxIndex::proposalId(host.id(), entry.entry.seq)});
    else if (entry.entry.escalation > 0)
      hooks_->gone(InboxIndex::proposalId(host.id(), entry.entry.escalation));
  });
  lookAtInbox();
  return okStatus();
}

void Daemon::lookAtInbox() {
  for (const std::string& graph : std::exchange(changedGraphs_, {}))
    if (const PartitionHost* host = replica().host(replica().partitionFor(kGraphDomain, graph)))
      hooks_->asks(graph, questionsOf(*host, graph));
  if (hooks_ && tools_) {
    std::set<std::string> forms;
    for (const auto& [id, form] : tools_->forms()) forms.insert(InboxIndex::idOf(InboxKind::form, id));
    hooks_->asks("", std::move(forms));  // no graph has that name
  }
  if (const auto looked = inbox(); !looked.ok()) fail(looked.error());
  inboxTimer_ = loop_.after(1'000, [this] { lookAtInbox(); });
}

}  // namespace witan::node
