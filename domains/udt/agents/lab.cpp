// udt-lab: drug tests that a clinic's front desk enters are ordered at the meta-agent, each with its rationale.
//
// Entries of type "udt.order": {"patient", "order", "kind", "code", "method", "dos", "rationale"} and, where they
// apply, "rationaleKind", "confirms", "coverage". What the words mean is the domain's business (domains/udt/actions.h):
// a wrong one is refused there, and the refusal is what the agent reports.
#include "agents/entry_agent.h"
#include "domains/udt/agents/agents.h"

namespace witan::domains::udt::workers {

using namespace agents;

namespace {

class UdtLab final : public EntryAgent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{
        .id = "udt-lab",
        .version = "2",
        .what = "orders the drug tests that the front desk enters",
        .category = "clinic",
        .subscriptions = {onEntries("udt.order")},
        .capabilities = {{"journal.read"}, {"propose"}},
    };
    return kSpec;
  }

 protected:
  bool concerns(const Entry& entry) const override { return entry.type == "udt.order"; }

  Result<Actions> plan(const Entry& entry, const Entries&) const override {
    WITAN_TRY(patient, textOf(entry.payload, "patient"));
    WITAN_TRY(order, textOf(entry.payload, "order"));
    WITAN_TRY(why, textOf(entry.payload, "rationale"));
    json::object rationale{{"type", "DocumentRationale"}, {"order", order}, {"text", why}};
    if (entry.payload.contains("rationaleKind")) rationale["kind"] = entry.payload.at("rationaleKind");
    json::object test{{"type", "OrderTest"}, {"order", order}};
    for (const char* member : {"kind", "code", "method", "dos"}) {
      WITAN_TRY(text, textOf(entry.payload, member));
      test[member] = text;
    }
    for (const char* member : {"confirms", "coverage"})
      if (entry.payload.contains(member)) test[member] = entry.payload.at(member);
    return Actions{proposal("udt", patient, "LabOrder", std::move(rationale)),
                   proposal("udt", patient, "LabOrder", std::move(test))};
  }
};

}  // namespace

const Agent& udtLab() {
  static const UdtLab agent;
  return agent;
}

}  // namespace witan::domains::udt::workers
