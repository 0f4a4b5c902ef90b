// udt-billing: what is to be billed becomes a claim at the meta-agent, which refuses one without a result, for another
// code, or twice.
//
// Entries of type "udt.bill": {"patient", "order", "entry"} and optionally "claim". "entry" is the id of the order's
// own entry, from which code and date are taken.
#include "agents/entry_agent.h"
#include "domains/udt/agents/agents.h"

namespace witan::domains::udt::workers {

using namespace agents;

namespace {

class UdtBilling final : public EntryAgent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{
        .id = "udt-billing",
        .version = "2",
        .what = "submits claims for drug tests",
        .category = "clinic",
        .subscriptions = {onEntries("udt.bill")},
        .capabilities = {{"journal.read"}, {"propose"}},
    };
    return kSpec;
  }

 protected:
  bool concerns(const Entry& entry) const override { return entry.type == "udt.bill"; }

  std::vector<std::string> alsoReads(const Entry& entry) const override {
    auto order = textOf(entry.payload, "entry");
    return order.ok() ? std::vector{*order} : std::vector<std::string>{};
  }

  Result<Actions> plan(const Entry& entry, const Entries& others) const override {
    WITAN_TRY(patient, textOf(entry.payload, "patient"));
    WITAN_TRY(order, textOf(entry.payload, "order"));
    WITAN_TRY(source, textOf(entry.payload, "entry"));
    const auto ordered = others.find(source);
    if (ordered == others.end())
      return Error{ErrorCode::notFound, "the order's entry " + source + " is not in the journal", ""};
    WITAN_TRY(code, textOf(ordered->second.payload, "code"));
    WITAN_TRY(dos, textOf(ordered->second.payload, "dos"));
    const json::value* claim = entry.payload.if_contains("claim");
    return Actions{proposal("udt", patient, "Billing",
                            {{"type", "SubmitClaim"},
                             {"claim", claim != nullptr ? *claim : json::value("claim-" + order)},
                             {"order", order},
                             {"code", code},
                             {"dos", dos}})};
  }
};

}  // namespace

const Agent& udtBilling() {
  static const UdtBilling agent;
  return agent;
}

}  // namespace witan::domains::udt::workers
