// verified-intake: a finding that the domain verification has verified becomes a vulnerability that the domain
// disclosure takes in: two entities, one saga.
//
// It is woken by the ledger of verification, once for each finding that becomes VERIFIED: the run key, and from it the
// operation id of the intake, derive from the finding, so the meta-agent of the portfolio decides it once, however
// often devices die or retry, and whichever of them carries it out.
//
// Finding F of entity E becomes vulnerability "E/F". The entry "disclosure/intake/E" of type "disclosure.intake" says
// where to: {"portfolio", "orgs": {component: [organisations]}}; without it, or for a component that it does not name,
// the portfolio is called as the entity, and the organisation as the component.
#include "agents/entry_agent.h"

namespace witan::agents {

namespace {

// Of what a look answered; null: it failed, or there is nothing.
const json::object* contentOf(const json::array& seen, std::size_t n) {
  const json::object* answer = n < seen.size() ? seen[n].if_object() : nullptr;
  const json::value* content = answer != nullptr ? answer->if_contains("content") : nullptr;
  return content != nullptr ? content->if_object() : nullptr;
}

const json::object* objectIn(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(member);
  return value != nullptr ? value->if_object() : nullptr;
}

// The finding's own cell of a column of the slice.
std::string cellOf(const json::object& slice, std::string_view column, std::string_view key) {
  const json::object* cells = objectIn(slice, column);
  return cells != nullptr ? std::string(stringOf(*cells, key)) : std::string();
}

class VerifiedIntake final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{
        .id = "verified-intake",
        .version = "1",
        .what = "hands verified findings over to disclosure",
        .category = "disclosure",
        .ledgers = {{"verified", "verification", "finding.phase", "VERIFIED"}},
        .capabilities = {{"slice.read", 2, {"Triage"}, {}},
                         {"journal.read", 2, {"disclosure/intake/"}, {}},
                         {"propose", 1}},
    };
    return kSpec;
  }

  Turn step(const json::value& sigma, const Input& input) const override {
    const json::object none;
    const json::object& state = sigma.is_object() ? sigma.get_object() : none;
    if (input.kind == InputKind::wake) return onWake(input.content.is_object() ? input.content.get_object() : none);
    if (!input.content.is_array()) return failed("it was told nothing that it can use");
    if (input.kind == InputKind::observation) return onSeen(state, input.content.get_array());
    return onResult(input.content.get_array());
  }

 private:
  static Turn failed(std::string why) { return {nullptr, {}, Finish{std::move(why), {}, {}, {}, true}}; }

  static Turn onWake(const json::object& wake) {
    const json::object* fact = objectIn(wake, "ledger");
    if (fact == nullptr) return {nullptr, {}, Finish{"no ledger woke it", {}, {}, {}, false}};
    const std::string entity(stringOf(*fact, "entity")), finding(stringOf(*fact, "key"));
    if (entity.empty() || finding.empty()) return failed("the fact names no finding");
    return {
        json::object{{"entity", entity}, {"finding", finding}},
        {},
        Looks{{"slice.read", {{"domain", "verification"}, {"entity", entity}, {"role", "Triage"}, {"key", finding}}, 0},
              {"journal.read", {{"id", "disclosure/intake/" + idPart(entity)}}, 0}}};
  }

  static Turn onSeen(const json::object& state, const json::array& seen) {
    const std::string entity(stringOf(state, "entity")), finding(stringOf(state, "finding"));
    const json::object* slice = contentOf(seen, 0);
    if (slice == nullptr || entity.empty()) return failed("finding " + finding + " of " + entity + " cannot be seen");
    const std::string component = cellOf(*slice, "triage.component", finding);
    if (component.empty()) return failed("finding " + finding + " of " + entity + " has no component");
    std::string portfolio = entity;
    json::array orgs{component};
    if (const json::object* entry = contentOf(seen, 1))
      if (const json::object* route = objectIn(*entry, "payload")) {
        if (const auto named = stringOf(*route, "portfolio"); !named.empty()) portfolio = named;
        const json::object* byComponent = objectIn(*route, "orgs");
        if (const json::array* listed = byComponent != nullptr ? arrayOf(*byComponent, component) : nullptr)
          orgs = *listed;
      }
    return {nullptr,
            {},
            Actions{proposal("disclosure", portfolio, "ReporterCoordination",
                             {{"type", "Intake"}, {"v", entity + "/" + finding}, {"orgs", std::move(orgs)}})}};
  }

  static Turn onResult(const json::array& results) {
    const json::object* result = results.empty() ? nullptr : results[0].if_object();
    if (result == nullptr) return failed("nothing was heard of the intake");
    const json::value* what = result->if_contains("result");
    return {nullptr,
            {},
            Finish{"intake " + std::string(stringOf(*result, "outcome")) +
                       (what != nullptr ? ": " + canonicalJson(*what) : ""),
                   {},
                   {},
                   {},
                   hasFailed(*result)}};
  }
};

}  // namespace

const Agent& verifiedIntake() {
  static const VerifiedIntake agent;
  return agent;
}

}  // namespace witan::agents
