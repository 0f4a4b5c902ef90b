// disclosure-reports: the role ReporterCoordination of vulnerability disclosure. It takes findings in, reports them to
// their organisations within the rate limit, records the answer, asks for the days that a promised fix needs, and tells
// the others when a vulnerability is open to them and when its day has come.
#include "domains/disclosure/agents/worker.h"

namespace witan::domains::disclosure::workers {

namespace {

class DisclosureReports final : public DisclosureWorker {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{
        .id = "disclosure-reports",
        .version = "2",
        .what = "takes vulnerabilities in, reports them, and keeps their embargoes",
        .category = "disclosure",
        .subscriptions = {onEntries("disclosure.portfolio"), onEntries("disclosure.case")},
        .capabilities = {{"journal.read", 5000, {}, {}},
                         {"journal.list"},
                         {"journal.put", 1000, {"disclosure/"}, {}},
                         {"journal.remove", 1000, {"disclosure/"}, {}},
                         {"disclosure.next", 1000, {"ReporterCoordination"}, {}},
                         {"propose"},
                         {"begin"}},
        .budget = {.steps = 400},  // of a night: two for four vulnerabilities
    };
    return kSpec;
  }

 protected:
  std::string_view role() const override { return "ReporterCoordination"; }
  bool mayBegin(const DisclosureCase&) const override { return true; }
  std::string_view nightly() const override { return "disclosure.open"; }

  // What is over is no more looked at by night.
  void tell(const DisclosureCase& one, const DisclosureAdvice& advice, Actions& actions) const override {
    if (advice.over && one.open)
      actions.push_back(action("journal.remove", {{"id", one.stem + "open"}}, {one.stem + "open", one.stem}));
    if (advice.over) return;
    if (!one.open) actions.push_back(say(one, "open"));
    if (!one.due && !advice.due.empty()) actions.push_back(say(one, "due", {{"why", advice.due}}));
  }

  bool concerns(std::string_view name) const override { return name == "portfolio"; }
  Result<Actions> plan(const json::object& payload) const override {
    WITAN_TRY(portfolio, textOf(payload, "portfolio"));
    const json::value* fields = payload.if_contains("fields");
    return Actions{action(
        "begin",
        {{"domain", "disclosure"}, {"entity", portfolio}, {"fields", fields != nullptr ? *fields : json::object{}}},
        {portfolio})};
  }
};

}  // namespace

const Agent& disclosureReports() {
  static const DisclosureReports agent;
  return agent;
}

}  // namespace witan::domains::disclosure::workers
