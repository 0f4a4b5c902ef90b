// verified-intake: a finding that the domain verification has verified becomes a vulnerability that the domain
// disclosure takes in: two entities, one saga.
//
// It is woken by the ledger of verification, once for each finding that becomes VERIFIED: the run key, and from it the
// operation id of the intake, derive from the finding, so the meta-agent of the portfolio decides it once, however
// often devices die or retry, and whichever of them carries it out.
//
// Finding F of entity E becomes vulnerability "E/F". The entry "disclosure/intake/E" of type "disclosure.intake" says
// where to: {"portfolio", "orgs": {component: [organisations]}}; without it, or for a component that it does not name,
// the portfolio is called as the entity, and the organisation as the component. A finding whose portfolio has not begun
// is kept in the agent's slot "extension" and taken in when it begins.
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

constexpr std::size_t kAtOnce = 8;         // findings of one run: two looks each, and an episode takes 16 a turn
constexpr std::size_t kMostWaiting = 300;  // a slot takes that many ids; of more it is said that they were left alone
constexpr std::int64_t kDayMs = 24 * 3'600'000;

// A finding on its way, as it stands in sigma and, while its portfolio has not begun, in the agent's slot: entity and
// key.
struct Finding {
  std::string entity, key;
  json::value kept() const { return json::array{entity, key}; }
  std::string v() const { return entity + "/" + key; }
};

std::vector<Finding> findingsIn(const json::object& object, std::string_view member) {
  std::vector<Finding> out;
  if (const json::array* list = arrayOf(object, member))
    for (const json::value& one : *list)
      if (const json::array* pair = one.if_array();
          pair != nullptr && pair->size() == 2 && pair->at(0).is_string() && pair->at(1).is_string())
        out.push_back({std::string(pair->at(0).get_string()), std::string(pair->at(1).get_string())});
  return out;
}

json::array listOf(const std::vector<Finding>& findings) {
  json::array list;
  for (const Finding& one : findings) list.push_back(one.kept());
  return list;
}

void note(json::object& sigma, const std::string& line) {
  json::value& list = sigma["unusable"];
  if (!list.is_array()) list = json::array{};
  list.get_array().emplace_back(line);
}

class VerifiedIntake final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{
        .id = "verified-intake",
        .version = "2",
        .what = "hands verified findings over to disclosure",
        .category = "disclosure",
        .ledgers = {{"verified", "verification", "finding.phase", "VERIFIED"}, {"begun", "disclosure", "", ""}},
        .capabilities = {{"slice.read", 2 * kAtOnce, {"Triage", "ReporterCoordination"}, {}},
                         {"journal.read", kAtOnce, {"disclosure/intake/"}, {}},
                         {"propose", kAtOnce}},
    };
    return kSpec;
  }

  Turn step(const json::value& sigma, const Input& input) const override {
    const json::object none;
    const json::object& state = sigma.is_object() ? sigma.get_object() : none;
    if (input.kind == InputKind::wake) return onWake(input.content.is_object() ? input.content.get_object() : none);
    if (!input.content.is_array())
      return {nullptr, {}, Finish{"it was told nothing that it can use", {}, {}, {}, true}};
    const json::array& seen = input.content.get_array();
    if (input.kind == InputKind::results) return finished(state, seen);
    return stringOf(state, "stage") == "findings" ? onFindings(state, seen) : onPortfolios(state, seen);
  }

 private:
  // A finding that was verified; or, when a portfolio has begun or a day has passed, those that wait for theirs.
  static Turn onWake(const json::object& wake) {
    const json::object* slots = objectIn(wake, "slots");
    const json::object* slot = slots != nullptr ? objectIn(*slots, "extension") : nullptr;
    std::vector<Finding> todo, later = slot != nullptr ? findingsIn(*slot, "waiting") : std::vector<Finding>();
    json::object sigma{{"nowMs", integerOf(wake, "nowMs").value_or(0)}, {"before", listOf(later)}};
    const json::object* fact = objectIn(wake, "ledger");
    const std::string key(fact != nullptr ? stringOf(*fact, "key") : std::string_view());
    if (!key.empty()) {
      todo.push_back({std::string(stringOf(*fact, "entity")), key});
    } else {
      const auto end = later.begin() + static_cast<std::ptrdiff_t>(std::min(kAtOnce, later.size()));
      todo.assign(later.begin(), end);
      later.erase(later.begin(), end);
      if (!later.empty()) sigma["goOn"] = true;
    }
    sigma["later"] = listOf(later);
    if (todo.empty()) return finished(std::move(sigma), {});
    Looks looks;
    for (const Finding& one : todo) {
      looks.push_back({"slice.read",
                       {{"domain", "verification"}, {"entity", one.entity}, {"role", "Triage"}, {"key", one.key}},
                       0});
      looks.push_back({"journal.read", {{"id", "disclosure/intake/" + idPart(one.entity)}}, 0});
    }
    sigma["todo"] = listOf(todo);
    sigma["stage"] = "findings";
    return {std::move(sigma), {}, std::move(looks)};
  }

  // Where each of them goes; then whether that has begun.
  static Turn onFindings(json::object sigma, const json::array& seen) {
    const std::vector<Finding> todo = findingsIn(sigma, "todo");
    std::vector<Finding> usable;
    Looks looks;
    json::array intakes;
    for (std::size_t i = 0; i < todo.size(); ++i) {
      const Finding& one = todo[i];
      const json::object* slice = contentOf(seen, 2 * i);
      const std::string component = slice != nullptr ? cellOf(*slice, "triage.component", one.key) : "";
      if (component.empty()) {
        note(sigma,
             "finding " + one.key + " of " + one.entity + (slice == nullptr ? " cannot be seen" : " has no component"));
        continue;
      }
      std::string portfolio = one.entity;
      json::array orgs{component};
      if (const json::object* entry = contentOf(seen, 2 * i + 1))
        if (const json::object* route = objectIn(*entry, "payload")) {
          if (const auto named = stringOf(*route, "portfolio"); !named.empty()) portfolio = named;
          const json::object* byComponent = objectIn(*route, "orgs");
          if (const json::array* listed = byComponent != nullptr ? arrayOf(*byComponent, component) : nullptr)
            orgs = *listed;
        }
      looks.push_back(
          {"slice.read",
           {{"domain", "disclosure"}, {"entity", portfolio}, {"role", "ReporterCoordination"}, {"key", one.v()}},
           0});
      intakes.push_back(json::object{{"portfolio", portfolio}, {"orgs", std::move(orgs)}});
      usable.push_back(one);
    }
    if (looks.empty()) return finished(std::move(sigma), {});
    sigma["todo"] = listOf(usable);
    sigma["intakes"] = std::move(intakes);
    sigma["stage"] = "portfolios";
    return {std::move(sigma), {}, std::move(looks)};
  }

  static Turn onPortfolios(json::object sigma, const json::array& seen) {
    const std::vector<Finding> todo = findingsIn(sigma, "todo");
    const json::array none, *known = arrayOf(sigma, "intakes");
    const json::array intakes = known != nullptr ? *known : none;
    std::vector<Finding> later = findingsIn(sigma, "later");
    Actions actions;
    for (std::size_t i = 0; i < todo.size() && i < intakes.size(); ++i) {
      const json::object* intake = intakes[i].if_object();
      if (intake == nullptr) continue;
      const std::string portfolio(stringOf(*intake, "portfolio"));
      if (contentOf(seen, i) != nullptr) {
        const json::array* orgs = arrayOf(*intake, "orgs");
        actions.push_back(
            proposal("disclosure", portfolio, "ReporterCoordination",
                     {{"type", "Intake"}, {"v", todo[i].v()}, {"orgs", orgs != nullptr ? *orgs : json::array{}}}));
      } else if (later.size() < kMostWaiting) {
        later.push_back(todo[i]);
      } else {
        note(sigma, todo[i].v() + ": portfolio " + portfolio + " has not begun, and too many findings wait already");
      }
    }
    sigma["later"] = listOf(later);
    for (const char* member : {"todo", "intakes", "stage"}) sigma.erase(member);
    if (actions.empty()) return finished(std::move(sigma), {});
    return {std::move(sigma), {}, std::move(actions)};
  }

  // What waits is kept in the slot: the portfolio's beginning wakes the agent, and so does every day, since another
  // device may have taken that wake before it knew of the finding.
  static Turn finished(json::object sigma, const json::array& results) {
    std::vector<std::string> unusable;
    if (const json::array* list = arrayOf(sigma, "unusable"))
      for (const json::value& line : *list)
        if (line.is_string()) unusable.emplace_back(line.get_string());
    Finish finish = reportOf(results, unusable);
    const std::vector<Finding> later = findingsIn(sigma, "later");
    for (const Finding& one : later)
      if (finish.answer.size() < 4'000) finish.answer += "\n" + one.v() + " waits for its portfolio to begin";
    const json::array waiting = listOf(later);
    const json::array none, *before = arrayOf(sigma, "before");
    if (waiting != (before != nullptr ? *before : none))
      finish.slots = {{replication::SlotName::extension, json::object{{"waiting", waiting}}}};
    const std::int64_t nowMs = integerOf(sigma, "nowMs").value_or(0);
    if (!later.empty()) finish.nextWakeAtMs = sigma.contains("goOn") ? nowMs + 1'000 : nowMs + kDayMs;
    return {nullptr, {}, std::move(finish)};
  }
};

}  // namespace

const Agent& verifiedIntake() {
  static const VerifiedIntake agent;
  return agent;
}

}  // namespace witan::agents
