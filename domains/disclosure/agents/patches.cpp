// disclosure-patches: the role PatchTracking of vulnerability disclosure. It records what is seen outside, one fact at
// a time: patches, ids, severities, leaks and exploits.
#include "domains/disclosure/agents/worker.h"

namespace witan::domains::disclosure::workers {

namespace {

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

}  // namespace

const Agent& disclosurePatches() {
  static const DisclosurePatches agent;
  return agent;
}

}  // namespace witan::domains::disclosure::workers
