#include "node/operations/policy_simulate.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "agents/episode/sparing.h"
#include "agents/episode/transcript.h"
#include "agents/host/device_gate.h"
#include "agents/json_members.h"
#include "base/json_codec.h"
#include "domains/agents.h"

namespace witan::node::operations {

using namespace replication;
using agents::arrayOf;
using agents::stringOf;
using agents::episode::EntryKind;

namespace {

std::string words(std::string_view kind, std::string_view token) {
  return concat(kind, token.empty() ? "" : " ", token);
}

class Simulation {
 public:
  explicit Simulation(agents::Monitor monitor) : gate_(std::move(monitor)) {
    for (const agents::LedgerTool* tool : domains::ledgerTools()) gate_.addLedgerTool(tool->name(), tool->operation());
  }

  Status run(Space& records, std::int64_t sinceMs) {
    gate_.readFrom(records);
    for (const agents::episode::TranscriptKey& key : agents::episode::listTranscripts(records)) {
      WITAN_TRY(rows, agents::episode::readTranscript(records, key.run, key.device));
      ++out_.transcripts;
      begin_ = Begin{};
      for (const agents::episode::TranscriptRow& row : rows) {
        const auto entry = agents::episode::parseEntry(row.message.content);
        if (!entry.ok()) break;
        if (entry->kind == EntryKind::begin) WITAN_DO(begin(entry->body));
        if (entry->kind == EntryKind::plan) notePlan(entry->body);
        const bool call = entry->kind == EntryKind::look || entry->kind == EntryKind::intended;
        if (call && row.message.createdAtMs >= sinceMs) judge(key.run.hex(), entry->body);
      }
    }
    return okStatus();
  }

  PolicySimulation result() {
    for (auto& [key, change] : changes_) out_.changes.push_back(std::move(change));
    std::ranges::stable_sort(out_.changes, std::greater{}, &PolicyChange::calls);
    return std::move(out_);
  }

 private:
  struct Begin {
    std::string agent, category;
    std::vector<agents::episode::ToolInfo> tools;
    std::vector<std::string> locale;
    std::map<std::string, std::vector<std::string>, std::less<>> scopes;  // by operation
    json::object body;
  };

  Status begin(const json::object& body) {
    begin_ = {std::string(stringOf(body, "agent")), std::string(stringOf(body, "category")), {}, {}, {}, body};
    agents::SecretNames secrets;
    if (const json::array* tools = arrayOf(body, "tools"))
      for (const json::value& one : *tools) {
        agents::episode::ToolInfo tool;
        WITAN_DO(readJson(one, tool, "tool"));
        if (!tool.secret.empty()) secrets.insert(tool.secret);
        begin_.tools.push_back(std::move(tool));
      }
    if (const json::value* grant = body.if_contains("grant"); grant != nullptr && grant->is_object())
      if (const json::array* locale = arrayOf(grant->get_object(), "locale"))
        for (const json::value& tag : *locale)
          if (tag.is_string()) begin_.locale.emplace_back(tag.get_string());
    gate_.know(std::move(secrets));
    return okStatus();
  }

  void notePlan(const json::object& body) {
    const json::array* actions = arrayOf(body, "actions");
    const json::array* operations = arrayOf(body, "operations");
    for (std::size_t i = 0;
         actions != nullptr && operations != nullptr && i < actions->size() && i < operations->size(); ++i) {
      const json::object* action = (*actions)[i].if_object();
      const json::array* scope = action != nullptr ? arrayOf(*action, "scope") : nullptr;
      std::vector<std::string>& into = begin_.scopes[std::string((*operations)[i].get_string())];
      for (std::size_t n = 0; scope != nullptr && n < scope->size(); ++n)
        if ((*scope)[n].is_string()) into.emplace_back((*scope)[n].get_string());
    }
  }

  void judge(const std::string& run, const json::object& body) {
    const std::string name(stringOf(body, "tool"));
    const json::value* verdict = body.if_contains("verdict");
    const auto arguments = agents::episode::wholeArguments(begin_.body, body);
    if (verdict == nullptr || !verdict->is_object() || !arguments.ok()) return;
    // What the episode denied itself no policy can allow.
    if (stringOf(verdict->get_object(), "by") != "gate") return;
    const auto tool = std::ranges::find(begin_.tools, name, &agents::episode::ToolInfo::name);
    if (tool == begin_.tools.end()) return void(++out_.unknown);
    ++out_.calls;
    const std::string span(stringOf(body, "span"));
    const auto scope = begin_.scopes.find(span);
    const agents::episode::GateRequest asked{.agent = begin_.agent,
                                             .category = begin_.category,
                                             .span = span,
                                             .tool = &*tool,
                                             .arguments = &*arguments,
                                             .scope = scope == begin_.scopes.end()
                                                          ? std::span<const std::string>()
                                                          : std::span<const std::string>(scope->second),
                                             .locale = begin_.locale};
    const agents::episode::GateVerdict judged = gate_.judge(asked);
    const bool denied = judged.kind == agents::episode::GateKind::deny;
    const std::string before = words(stringOf(verdict->get_object(), "kind"), stringOf(verdict->get_object(), "token"));
    const std::string now = words(enumName(judged.kind), denied ? judged.token : "");
    if (before == now) return;
    PolicyChange& change = changes_[{begin_.agent, name, before, now}];
    if (change.calls++ == 0) change = {begin_.agent, name, before, now, 1, run, denied ? judged.why : ""};
    change.run = run;
  }

  agents::DeviceGate gate_;
  Begin begin_;
  std::map<std::array<std::string, 4>, PolicyChange> changes_;
  PolicySimulation out_;
};

}  // namespace

Result<PolicySimulation> simulatePolicy(OperationContext& context, const PolicySimulateRequest& request) {
  WITAN_TRY(policy, agents::policyFromJson(json::value(request.policy)));
  WITAN_TRY(monitor, agents::Monitor::compile(std::move(policy)));
  Simulation simulation(std::move(monitor));
  Space* records = context.space(DatabaseName::agents, request.scope);
  if (records != nullptr) WITAN_DO(simulation.run(*records, request.since ? request.since->micros / 1000 : 0));
  return simulation.result();
}

}  // namespace witan::node::operations
