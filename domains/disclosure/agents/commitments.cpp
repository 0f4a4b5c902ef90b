// disclosure-commitments: the role CommitmentManagement of vulnerability disclosure. It commits to a report while it is
// secret, opens the commitment when its day has come, and tells that it is open.
#include "domains/disclosure/agents/worker.h"

namespace witan::domains::disclosure::workers {

namespace {

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

}  // namespace

const Agent& disclosureCommitments() {
  static const DisclosureCommitments agent;
  return agent;
}

}  // namespace witan::domains::disclosure::workers
