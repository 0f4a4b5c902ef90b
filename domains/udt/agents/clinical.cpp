// udt-clinical: patients and results that are entered are recorded at the meta-agent. A positive result waits there for
// the counselor (UDT_RELAPSE_RESPONSE).
//
// Entries of type "udt.patient": {"patient"} and whatever fields the entity begins with, under "fields"; of type
// "udt.result": {"patient", "order", "outcome", "on"}.
#include "agents/entry_agent.h"
#include "domains/udt/agents/agents.h"

namespace witan::domains::udt::workers {

using namespace agents;

namespace {

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

}  // namespace

const Agent& udtClinical() {
  static const UdtClinical agent;
  return agent;
}

}  // namespace witan::domains::udt::workers
