#include "domains/joint/joint.h"

#include "base/mutant.h"
#include "coordination/judge.h"

namespace witan::domains::joint {

namespace core = kernel::joint;

namespace {

bool isLawful(const Request& request) {
  const bool reads = request.actionType == "READ", writes = request.actionType == "WRITE";
  return (reads || writes) && !request.declaredScope.empty() && (writes || request.proposedDelta.empty());
}

core::LoggedAuthorities authoritiesOf(const View<NoArbitration>& s) {
  core::LoggedAuthorities all;
  for (const auto row : s.rows<&State::authorities>()) {
    core::LoggedAuthority authority;
    authority.allows = row.get<AuthorityCommitment>() == Commitment::ALLOW;
    authority.holder = row.get<AuthorityHolder>().value_or("");
    if (row.has<AuthorityReads>())
      for (const std::string& key : *row.get<AuthorityReads>()) authority.scope.emplace(key, "READ");
    if (row.has<AuthorityWrites>())
      for (const std::string& key : *row.get<AuthorityWrites>()) authority.scope.emplace(key, "WRITE");
    all.emplace(row.key(), std::move(authority));
  }
  return all;
}

core::LoggedAction actionOf(std::string_view agent, const Request& request, std::optional<Outcome> outcome) {
  core::LoggedAction action;
  action.agent = action.id = agent;
  action.operation = request.actionType;
  action.scope.insert(request.declaredScope.begin(), request.declaredScope.end());
  for (const Change& change : request.proposedDelta) action.delta.emplace(change.key, change.value);
  action.cited = request.authoritiesCited;
  action.outcome = outcome ? enumName(*outcome) : "nothing";
  return action;
}

}  // namespace

Verdict RequestsAreOpen::check(const View<RequestsAreOpen>& s) {
  for (const auto row : s.rows<&State::agents>()) {
    if (!row.has<AgentRequest>()) continue;
    const Request& request = *row.get<AgentRequest>();
    const std::string who = "the request of " + std::string(row.key());
    if (row.get<AgentActive>() != true) return Verdict::reject(who + " is by nobody who is there");
    if (request.epoch != s.get<Epoch>()) return Verdict::reject(who + " is not of the open epoch");
    if (!isLawful(request)) return Verdict::reject(who + " is no READ or WRITE");
    const auto known = [&](const std::string& key) {
      const auto cell = s.row<&State::world>(key);
      return cell && cell->has<WorldValue>();
    };
    for (const std::string& key : request.declaredScope)
      if (!known(key)) return Verdict::reject(who + " is about " + key + ", which the world has not");
    for (const Change& change : request.proposedDelta)
      if (!known(change.key)) return Verdict::reject(who + " is about " + change.key + ", which the world has not");
  }
  return Verdict::pass();
}

Verdict NoArbitration::check(const View<NoArbitration>& s) {
  if (mutated("tieBreak")) return Verdict::pass();
  core::LoggedEpoch epoch;
  for (const auto row : s.rows<&State::agents>()) {
    if (!row.has<AgentClosed>()) continue;
    const Request& request = *row.get<AgentClosed>();
    if (request.epoch != s.get<Epoch>() - 1)
      return Verdict::reject("what " + std::string(row.key()) + " did is not of the last epoch");
    epoch.actions.push_back(actionOf(row.key(), request, row.get<AgentOutcome>()));
  }
  core::World before, after;
  for (const auto row : s.rows<&State::world>()) {
    if (!row.has<WorldValue>()) return Verdict::reject("key " + std::string(row.key()) + " has no value");
    after.emplace(row.key(), *row.get<WorldValue>());
    before.emplace(row.key(), row.has<WorldBefore>() ? *row.get<WorldBefore>() : *row.get<WorldValue>());
  }
  core::World due = before;
  const auto judged = core::Judge(authoritiesOf(s)).judge(epoch, before);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    const core::LoggedAction& action = epoch.actions[i];
    if (action.outcome != judged[i].outcome())
      return Verdict::reject("the outcome of " + action.agent + " is " + action.outcome + ", due is " +
                             judged[i].outcome());
    if (action.outcome == "EXECUTED")
      for (const auto& [key, value] : action.delta) due[key] = value;
  }
  if (due != after) return Verdict::reject("the world is not what the executed actions made of it");
  return Verdict::pass();
}

}  // namespace witan::domains::joint
