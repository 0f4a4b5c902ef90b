#include "domains/joint/actions.h"

#include <algorithm>
#include <limits>
#include <set>

#include "domains/joint/epoch.h"

namespace witan::domains::joint {

namespace {

void demandOpen(Mutator<Fields>& m, std::int64_t epoch) {
  if (epoch != m.get<Epoch>())
    throw Fault{"epoch " + std::to_string(epoch) + " is not the open one, which is " + std::to_string(m.get<Epoch>())};
}

auto activeAgent(Mutator<Fields>& m, const std::string& agent) {
  auto row = m.find<&State::agents>(agent);
  if (!row || !row->has<AgentActive>()) throw Fault{"there is no agent " + agent};
  if (!*row->get<AgentActive>()) throw Fault{"agent " + agent + " has left"};
  if (row->has<AgentRequest>()) throw Fault{"agent " + agent + " has proposed in this epoch"};
  return *row;
}

EpochInput readInput(Mutator<Fields>& m) {
  EpochInput input;
  m.forEachRow<&State::world>([&](auto row) {
    if (row.template has<WorldValue>()) input.world.emplace_back(row.key(), *row.template get<WorldValue>());
  });
  m.forEachRow<&State::authorities>([&](auto row) {
    const std::vector<std::string> none;
    input.authorities.push_back({std::string(row.key()), row.template get<AuthorityHolder>().value_or(""),
                                 row.template get<AuthorityCommitment>().value_or(Commitment::DENY),
                                 row.template get<AuthorityReads>().value_or(none),
                                 row.template get<AuthorityWrites>().value_or(none)});
  });
  m.forEachRow<&State::agents>([&](auto row) {
    input.agents.push_back(
        {std::string(row.key()), row.template get<AgentActive>().value_or(false), row.template get<AgentRequest>()});
  });
  return input;
}

}  // namespace

void Propose::apply(Mutator<Fields>& m, Time) const {
  demandOpen(m, epoch);
  auto row = activeAgent(m, agent);
  const auto type = m.word<kernel::joint::ActionType>(actionType);
  if (declaredScope.empty()) throw Fault{"an action declares at least one key"};
  if (deltaKeys.size() != deltaValues.size()) throw Fault{"deltaKeys and deltaValues have one length"};
  if (type == kernel::joint::ActionType::READ && !deltaKeys.empty()) throw Fault{"a READ changes nothing"};
  Request request{epoch, actionType, declaredScope, {}, authoritiesCited};
  for (std::size_t i = 0; i < deltaKeys.size(); ++i) request.proposedDelta.push_back({deltaKeys[i], deltaValues[i]});
  for (const auto* keys : {&declaredScope, &deltaKeys})
    for (const std::string& key : *keys) {
      const auto cell = m.find<&State::world>(key);
      if (!cell || !cell->has<WorldValue>()) throw Fault{"the world has no key " + key};
    }
  std::set<std::string_view> once;
  for (const std::string& key : deltaKeys)
    if (!once.insert(key).second) throw Fault{"key " + key + " is to have two values"};
  row.set<AgentRequest>(std::move(request));
}

void Leave::apply(Mutator<Fields>& m, Time) const { activeAgent(m, agent).set<AgentActive>(false); }

void CloseEpoch::apply(Mutator<Fields>& m, Time) const {
  demandOpen(m, epoch);
  if (epoch == std::numeric_limits<std::int64_t>::max()) throw Fault{"there is no epoch after this one"};
  const EpochInput input = readInput(m);
  const EpochResult result = adjudicate(input);
  m.forEachRow<&State::world>([&](auto row) {
    if (row.template has<WorldBefore>()) row.template erase<WorldBefore>();
  });
  for (const Change& change : result.changes) {
    auto row = m.edit<&State::world>(change.key);
    if (!row.has<WorldValue>()) throw Fault{"the world has no key " + change.key};
    row.set<WorldBefore>(*row.get<WorldValue>()).set<WorldValue>(change.value);
  }
  for (std::size_t i = 0; i < input.agents.size(); ++i) {
    auto row = m.edit<&State::agents>(input.agents[i].id);
    if (input.agents[i].request) {
      row.set<AgentClosed>(*input.agents[i].request).erase<AgentRequest>();
    } else if (row.has<AgentClosed>()) {
      row.erase<AgentClosed>();
    }
    if (result.outcomes[i]) row.set<AgentOutcome>(*result.outcomes[i]);
  }
  m.set<Epoch>(epoch + 1);
  const std::int64_t most = m.policy().livelockEpochs;
  m.set<Fruitless>(result.fruitless ? std::min(std::max<std::int64_t>(m.get<Fruitless>(), 0), most) + 1 : 0);
  const bool livelock = result.epochClass == EpochClass::NONE && m.get<Fruitless>() >= most;
  m.set<ClassOf>(livelock ? EpochClass::STATE_LIVELOCK : result.epochClass);
}

}  // namespace witan::domains::joint
