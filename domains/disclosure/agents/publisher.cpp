// disclosure-publisher: the role Disclosure of vulnerability disclosure. It forms groups that are to be disclosed
// jointly, declares readiness, and discloses when the day has come, the commitment is open and the group is ready.
#include "domains/disclosure/agents/worker.h"

namespace witan::domains::disclosure::workers {

namespace {

class DisclosurePublisher final : public DisclosureWorker {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{
        .id = "disclosure-publisher",
        .version = "2",
        .what = "discloses vulnerabilities when their day has come",
        .category = "disclosure",
        .subscriptions = {onEntries("disclosure.due"), onEntries("disclosure.opened"), onEntries("disclosure.group")},
        .capabilities = {{"journal.read", 5000, {}, {}},
                         {"journal.list"},
                         {"disclosure.next", 1000, {"Disclosure"}, {}},
                         {"propose"}},
        .budget = {.steps = 400},  // of a night: two for four vulnerabilities
    };
    return kSpec;
  }

 protected:
  std::string_view role() const override { return "Disclosure"; }
  bool mayBegin(const DisclosureCase& one) const override { return one.due; }
  std::string_view nightly() const override { return "disclosure.due"; }

  bool concerns(std::string_view name) const override { return name == "group"; }
  Result<Actions> plan(const json::object& payload) const override {
    WITAN_TRY(portfolio, textOf(payload, "portfolio"));
    WITAN_TRY(group, textOf(payload, "group"));
    WITAN_TRY(planned, textOf(payload, "planned"));
    const json::array* members = arrayOf(payload, "members");
    if (members == nullptr) return Error{ErrorCode::invalidInput, "it has no \"members\"", ""};
    return Actions{
        proposal("disclosure", portfolio, role(),
                 {{"type", "FormCoDisclosureGroup"}, {"g", group}, {"members", *members}, {"planned", planned}})};
  }
};

}  // namespace

const Agent& disclosurePublisher() {
  static const DisclosurePublisher agent;
  return agent;
}

}  // namespace witan::domains::disclosure::workers
