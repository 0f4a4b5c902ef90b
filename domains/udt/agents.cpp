// The agents of a clinic.
#include "agents/entry_agent.h"

namespace witan::domains::udt::workers {

using namespace agents;

namespace {

// udt-lab: drug tests that a clinic's front desk enters are ordered at the meta-agent, each with its rationale.
//
// Entries of type "udt.order": {"patient", "order", "kind", "code", "method", "dos", "rationale"} and, where they
// apply, "rationaleKind", "confirms", "coverage". What the words mean is the domain's business (domains/udt/actions.h):
// a wrong one is refused there, and the refusal is what the agent reports.
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

// udt-clinical: patients and results that are entered are recorded at the meta-agent. A positive result waits there for
// the counselor (UDT_RELAPSE_RESPONSE).
//
// Entries of type "udt.patient": {"patient"} and whatever fields the entity begins with, under "fields"; of type
// "udt.result": {"patient", "order", "outcome", "on"}.

class UdtClinical final : public EntryAgent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{
        .id = "udt-clinical",
        .version = "2",
        .what = "records patients and results of drug tests",
        .category = "clinic",
        .subscriptions = {onEntries("udt.patient"), onEntries("udt.result")},
        .capabilities = {{"journal.read"}, {"propose"}, {"begin"}},
    };
    return kSpec;
  }

 protected:
  bool concerns(const Entry& entry) const override { return entry.type == "udt.patient" || entry.type == "udt.result"; }

  Result<Actions> plan(const Entry& entry, const Entries&) const override {
    WITAN_TRY(patient, textOf(entry.payload, "patient"));
    if (entry.type == "udt.patient") {
      const json::value* fields = entry.payload.if_contains("fields");
      return Actions{action(
          "begin", {{"domain", "udt"}, {"entity", patient}, {"fields", fields != nullptr ? *fields : json::object{}}},
          {patient})};
    }
    json::object result{{"type", "RecordResult"}};
    for (const char* member : {"order", "outcome", "on"}) {
      WITAN_TRY(text, textOf(entry.payload, member));
      result[member] = text;
    }
    return Actions{proposal("udt", patient, "Clinical", std::move(result))};
  }
};

// udt-billing: what is to be billed becomes a claim at the meta-agent, which refuses one without a result, for another
// code, or twice.
//
// Entries of type "udt.bill": {"patient", "order", "entry"} and optionally "claim". "entry" is the id of the order's
// own entry, from which code and date are taken.

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

std::vector<const Agent*> clinicAgents() {
  static const UdtLab udtLab;
  static const UdtClinical udtClinical;
  static const UdtBilling udtBilling;
  return {&udtLab, &udtClinical, &udtBilling};
}

}  // namespace witan::domains::udt::workers
