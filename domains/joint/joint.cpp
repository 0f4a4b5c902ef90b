// Joint, assembled: coordination without arbitration as what a partition holds (docs/coordination.md).
#include <variant>

#include "domains/joint/actions.h"
#include "domains/joint/invariants.h"
#include "domains/registry.h"
#include "kernel/typed_module.h"

namespace witan::domains::joint {

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

  using AnyAction = std::variant<Propose, Leave, CloseEpoch>;
  static AnyAction sample(const State& s, Random& random, Time) {
    const std::uint64_t draw = random.below(100);
    if (draw < 25) return CloseEpoch{random.below(12) == 0 ? s.epoch + 1 : s.epoch};
    // Mostly at the beginning, else long histories are those of deserted worlds.
    const bool leaves = draw < 28 && (s.epoch == 0 || random.below(20) == 0);
    if (leaves) return Leave{"agent_" + number(1 + random.below(3))};
    return drawProposal(s, random);
  }
  static std::string sampleInit(Random& random, Time) { return drawInit(random); }
};

}  // namespace witan::domains::joint

WITAN_DEFINE_DOMAIN(joint, joint::Joint)
