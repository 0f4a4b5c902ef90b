#include "domains/joint/joint.h"

#include <algorithm>
#include <limits>
#include <set>

#include "domains/joint/epoch.h"
#include "domains/registry.h"
#include "kernel/typed_module.h"

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

void Tell::apply(Mutator<Fields>& m, Time) const {
  constexpr std::size_t kMost = 4'096;
  demandOpen(m, epoch);
  auto row = activeAgent(m, agent);
  if (row.has<AgentMessage>()) throw Fault{"agent " + agent + " has spoken in this epoch"};
  if (content.empty() || content.size() > kMost) throw Fault{"a message has 1 to " + std::to_string(kMost) + " bytes"};
  row.set<AgentMessage>(content);
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
    if (row.has<AgentMessage>()) {
      row.set<AgentHeard>(*row.get<AgentMessage>()).erase<AgentMessage>();
    } else if (row.has<AgentHeard>()) {
      row.erase<AgentHeard>();
    }
  }
  m.set<Epoch>(epoch + 1);
  const std::int64_t most = m.policy().livelockEpochs;
  m.set<Fruitless>(result.fruitless ? std::min(std::max<std::int64_t>(m.get<Fruitless>(), 0), most) + 1 : 0);
  const bool livelock = result.epochClass == EpochClass::NONE && m.get<Fruitless>() >= most;
  m.set<ClassOf>(livelock ? EpochClass::STATE_LIVELOCK : result.epochClass);
}

namespace {

std::string number(std::uint64_t n) { return std::to_string(n); }

// Three agents and three keys; each agent may write two of them and read all.
std::string drawInit(Random& random) {
  std::string commitment, holder, writes, reads;
  const auto member = [](std::string& into, const std::string& id, const std::string& text) {
    into += (into.empty() ? "\"" : ",\"") + id + "\":" + text;
  };
  for (std::uint64_t agent = 1; agent <= 3; ++agent) {
    const std::string id = "CUD-00" + number(agent);
    const std::uint64_t first = 1 + random.below(3), second = 1 + random.below(3);
    member(commitment, id, "\"ALLOW\"");
    member(holder, id, "\"agent_" + number(agent) + "\"");
    member(reads, id, R"(["K1","K2","K3"])");
    member(writes, id, "[\"K" + number(first) + "\",\"K" + number(second) + "\"]");
  }
  if (random.below(4) == 0) {
    member(commitment, "CUD-004", "\"DENY\"");
    member(holder, "CUD-004", "\"harness\"");
    member(writes, "CUD-004", "[\"K" + number(1 + random.below(3)) + "\"]");
  }
  return R"({"world.value":{"K1":"free","K2":"free","K3":"free"},"agent.active":{"agent_1":true,"agent_2":true,)"
         R"("agent_3":true},"authority.commitment":{)" +
         commitment + R"(},"authority.holder":{)" + holder + R"(},"authority.reads":{)" + reads +
         R"(},"authority.writes":{)" + writes + "}}";
}

Propose drawProposal(const State& s, Random& random) {
  Propose propose;
  const std::uint64_t agent = 1 + random.below(3);
  propose.agent = "agent_" + number(agent);
  propose.epoch = random.below(12) == 0 ? s.epoch + 1 : s.epoch;
  const bool reads = random.below(4) == 0;
  propose.actionType = reads ? "READ" : "WRITE";
  propose.declaredScope = {"K" + number(1 + random.below(3))};
  if (random.below(12) != 0) propose.authoritiesCited = {"CUD-00" + number(random.below(12) == 0 ? 1 : agent)};
  const Slot slot = s.authorities.find("CUD-00" + number(agent));
  if (!reads && slot != kNoSlot && random.below(8) != 0 && s.authorities.row(slot).writes)
    if (const auto& keys = *s.authorities.row(slot).writes; !keys.empty())
      propose.declaredScope = {keys[random.below(keys.size())]};
  if (reads) return propose;
  propose.deltaKeys = {random.below(10) == 0 ? "K" + number(1 + random.below(3)) : propose.declaredScope[0]};
  propose.deltaValues = {random.below(3) == 0 ? "free" : "of " + propose.agent};
  return propose;
}

}  // namespace

struct Joint {
  static constexpr std::string_view name = "joint";
  static constexpr std::string_view title = "Joint admissibility: agents that share a world, and nobody who decides";
  using Fields = joint::Fields;
  using Roles = RoleList<AgentRole, ClockRole>;
  using Invariants = InvariantList<RequestsAreOpen, NoArbitration>;
  static std::vector<std::string> counselors() { return {}; }

  using AnyAction = AnyActionOf<Roles>;
  static AnyAction sample(const State& s, Random& random, Time) {
    const std::uint64_t draw = random.below(100);
    if (draw < 25) return CloseEpoch{random.below(12) == 0 ? s.epoch + 1 : s.epoch};
    // Mostly at the beginning, else long histories are those of deserted worlds.
    const bool leaves = draw < 28 && (s.epoch == 0 || random.below(20) == 0);
    if (leaves) return Leave{"agent_" + number(1 + random.below(3))};
    if (random.below(8) == 0)
      return Tell{"agent_" + number(1 + random.below(3)), s.epoch, "I take K" + number(1 + random.below(3))};
    return drawProposal(s, random);
  }
  static std::string sampleInit(Random& random, Time) { return drawInit(random); }
};

}  // namespace witan::domains::joint

WITAN_DEFINE_DOMAIN(joint, joint::Joint)
