// The built-in agents of the four roles.
#include "domains/disclosure/agents/worker.h"

namespace witan::domains::disclosure::workers {

namespace {

// disclosure-reports: the role ReporterCoordination of vulnerability disclosure. It takes findings in, reports them to
// their organisations within the rate limit, records the answer, asks for the days that a promised fix needs, and tells
// the others when a vulnerability is open to them and when its day has come.
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

// disclosure-patches: the role PatchTracking of vulnerability disclosure. It records what is seen outside, one fact at
// a time: patches, ids, severities, leaks and exploits.

class DisclosurePatches final : public DisclosureWorker {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{
        .id = "disclosure-patches",
        .version = "2",
        .what = "records what is seen of patches, CVE ids, leaks and exploits",
        .category = "disclosure",
        .subscriptions = {onEntries("disclosure.case"), onEntries("disclosure.open")},
        .capabilities = {{"journal.read"}, {"disclosure.next", 1000, {"PatchTracking"}, {}}, {"propose"}},
    };
    return kSpec;
  }

 protected:
  std::string_view role() const override { return "PatchTracking"; }
  bool mayBegin(const DisclosureCase& one) const override { return one.open; }
};

// disclosure-commitments: the role CommitmentManagement of vulnerability disclosure. It commits to a report while it is
// secret, opens the commitment when its day has come, and tells that it is open.

class DisclosureCommitments final : public DisclosureWorker {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{
        .id = "disclosure-commitments",
        .version = "2",
        .what = "commits to secret reports, and opens the commitments",
        .category = "disclosure",
        .subscriptions = {onEntries("disclosure.case"), onEntries("disclosure.open"), onEntries("disclosure.due")},
        .capabilities = {{"journal.read"},
                         {"journal.put", 100, {"disclosure/"}, {}},
                         {"disclosure.next", 1000, {"CommitmentManagement"}, {}},
                         {"propose"}},
    };
    return kSpec;
  }

 protected:
  std::string_view role() const override { return "CommitmentManagement"; }
  bool mayBegin(const DisclosureCase& one) const override { return one.open; }
  void tell(const DisclosureCase& one, const DisclosureAdvice& advice, Actions& actions) const override {
    for (const json::value& what : advice.actions)
      if (what.is_object() && stringOf(what.get_object(), "type") == "ResolveCommitment")
        return actions.push_back(say(one, "opened"));
  }
};

// disclosure-publisher: the role Disclosure of vulnerability disclosure. It forms groups that are to be disclosed
// jointly, declares readiness, and discloses when the day has come, the commitment is open and the group is ready.

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

std::vector<const Agent*> roleAgents() {
  static const DisclosureReports disclosureReports;
  static const DisclosurePatches disclosurePatches;
  static const DisclosureCommitments disclosureCommitments;
  static const DisclosurePublisher disclosurePublisher;
  return {&disclosureReports, &disclosurePatches, &disclosureCommitments, &disclosurePublisher};
}

}  // namespace witan::domains::disclosure::workers
