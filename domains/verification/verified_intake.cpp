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
//
// A finding whose portfolio has not begun, or that cannot be seen for now, waits as an entry of its own,
// "disclosure/waiting/{digest}" of type "disclosure.waiting": {"entity", "finding"}, so that devices that are cut off
// from each other forget none. A pass goes through all of them when a portfolio begins and every day, kOfARun a run;
// the slot "extension" says how far it has come and when the next run is due: {"after", "dueMs"}. A pass only goes
// forward, so it ends, whatever still waits behind it.
//
// A run plans once, and what has become of an intake is known after that. So the slot also says what the next run, a
// second later ("tidy"), does about the entries: those of findings whose intake was decided go ("over": one that the
// portfolio refuses is not proposed every day), and those whose intake was denied, by a policy, a budget, a person or
// for want of one, get an entry ("put") if they have none yet. They are tried again by the next pass.
#include <algorithm>

#include "agents/entry_agent.h"
#include "base/bytes.h"
#include "base/sha256.h"

namespace witan::domains::verification::workers {

using namespace agents;

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

std::string_view stringIn(const json::value& value, std::string_view member) {
  const json::object* object = value.if_object();
  return object != nullptr ? stringOf(*object, member) : std::string_view();
}

// The finding's own cell of a column of the slice.
std::string cellOf(const json::object& slice, std::string_view column, std::string_view key) {
  const json::object* cells = objectIn(slice, column);
  return cells != nullptr ? std::string(stringOf(*cells, key)) : std::string();
}

constexpr std::size_t kAtOnce = 8;      // findings of one turn: two looks each, and an episode takes 16 a turn
constexpr std::size_t kOfARun = 32;     // findings that wait: two turns for eight
constexpr std::size_t kMostKept = 128;  // of a list in the slot
constexpr std::int64_t kSoonMs = 1'000, kDayMs = 24 * 3'600'000;
constexpr std::string_view kWaiting = "disclosure/waiting/", kWaitingType = "disclosure.waiting";

// A finding on its way, as it stands in sigma.
struct Finding {
  std::string entity, key;
  bool waits = false;  // an entry says so
  bool torn = false;   // which devices edited at once: only a person may touch it
  json::value kept() const { return json::array{entity, key, waits, torn}; }
  std::string v() const { return entity + "/" + key; }
  std::string id() const { return std::string(kWaiting) + toHex(sha256(canonicalJson(json::array{entity, key}))); }
};

// Version 2 kept pairs in its slot.
std::optional<Finding> findingOf(const json::value& kept) {
  const json::array* parts = kept.if_array();
  if (parts == nullptr || parts->size() < 2 || !parts->at(0).is_string() || !parts->at(1).is_string())
    return std::nullopt;
  const auto flag = [&](std::size_t n) {
    return n < parts->size() && parts->at(n).is_bool() && parts->at(n).get_bool();
  };
  return Finding{std::string(parts->at(0).get_string()), std::string(parts->at(1).get_string()), flag(2), flag(3)};
}

std::vector<Finding> findingsIn(const json::object& object, std::string_view member) {
  std::vector<Finding> out;
  if (const json::array* list = arrayOf(object, member))
    for (const json::value& kept : *list)
      if (auto one = findingOf(kept)) out.push_back(*std::move(one));
  return out;
}

bool contains(std::span<const Finding> findings, std::string_view id) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& one) { return one.id() == id; });
}

json::array listOf(std::span<const Finding> findings) {
  json::array list;
  for (const Finding& one : findings) list.push_back(one.kept());
  return list;
}

template <class One>
void add(json::object& sigma, std::string_view member, const One& one) {
  json::value& list = sigma[member];
  if (!list.is_array()) list = json::array{};
  list.get_array().emplace_back(one);
}

// Left alone for good, which fails the run.
void note(json::object& sigma, const std::string& line) { add(sigma, "unusable", line); }

// It goes on waiting, or begins to.
void wait(json::object& sigma, const Finding& one, const std::string& why) {
  add(sigma, "waiting", one.kept());
  add(sigma, "said", one.v() + " waits: " + why);
}

json::object& slotOf(json::object& sigma) {
  json::value& slot = sigma["slot"];
  if (!slot.is_object()) slot = json::object{};
  return slot.get_object();
}

class VerifiedIntake final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{
        .id = "verified-intake",
        .version = "4",
        .what = "hands verified findings over to disclosure",
        .category = "disclosure",
        .ledgers = {{"verified", "verification", "finding.phase", "VERIFIED"}, {"begun", "disclosure", "", ""}},
        .capabilities = {{"slice.read", 2 * kOfARun, {"Triage", "ReporterCoordination"}, {}},
                         {"journal.read", kOfARun, {"disclosure/intake/"}, {}},
                         {"journal.list", 1},
                         {"journal.put", 2 * kOfARun, {std::string(kWaiting)}, {}},
                         {"journal.remove", 2 * kOfARun, {std::string(kWaiting)}, {}},
                         {"propose", kOfARun}},
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
    if (stringOf(state, "stage") == "list") return onList(state, input.content);
    return stringOf(state, "stage") == "findings" ? onFindings(state, seen) : onPortfolios(state, seen);
  }

 private:
  // A finding that was verified; or, when a portfolio has begun or the time has come, those that wait.
  static Turn onWake(const json::object& wake) {
    const json::object none;
    const json::object* slots = objectIn(wake, "slots");
    const json::object* kept = slots != nullptr ? objectIn(*slots, "extension") : nullptr;
    const json::object& before = kept != nullptr ? *kept : none;
    json::object sigma{{"nowMs", integerOf(wake, "nowMs").value_or(0)}, {"before", before}, {"slot", before}};
    const json::object* fact = objectIn(wake, "ledger");
    const std::string key(fact != nullptr ? stringOf(*fact, "key") : std::string_view());
    if (!key.empty()) {
      const std::array fresh{Finding{std::string(stringOf(*fact, "entity")), key}};
      sigma["todo"] = listOf(fresh);
      return lookOn(std::move(sigma));
    }
    const bool tidies = fact == nullptr && before.contains("tidy");
    sigma[tidies ? "tidies" : "pass"] = true;
    if (tidies) return act(std::move(sigma));
    json::object& slot = slotOf(sigma);
    // What has begun may be the portfolio of any of them.
    if (fact != nullptr) slot.erase("after");
    if (!slot.contains("after")) slot.erase("dueMs");
    std::vector<Finding> older = findingsIn(slot, "waiting");
    if (!older.empty()) {  // kept by version 2: they get their entries
      const std::span<const Finding> all(older), now = all.first(std::min(kOfARun, all.size()));
      slot["waiting"] = listOf(all.subspan(now.size()));
      sigma["todo"] = listOf(now);
      return lookOn(std::move(sigma));
    }
    slot.erase("waiting");
    json::object arguments{{"type", kWaitingType}, {"prefix", kWaiting}};
    if (const auto after = stringOf(slot, "after"); !after.empty()) arguments["after"] = after;
    sigma["stage"] = "list";
    return {std::move(sigma), {}, Looks{{"journal.list", std::move(arguments), 0}}};
  }

  static Turn onList(json::object sigma, const json::value& seen) {
    const json::array* entries = entriesIn(seen, 0);
    if (entries == nullptr) {
      note(sigma, "what waits cannot be read");
      slotOf(sigma).erase("after");
      sigma["left"] = true;
      return finished(std::move(sigma), {});
    }
    const std::vector<Finding> decided = findingsIn(slotOf(sigma), "over");
    std::vector<Finding> todo;
    std::string last;
    std::size_t read = 0;
    for (const json::value& entry : *entries) {
      if (read++ == kOfARun) break;
      const json::object none, *object = entry.if_object();
      if (object == nullptr) object = &none;
      last = stringOf(*object, "id");
      const json::object* payload = objectIn(*object, "payload");
      if (payload == nullptr) payload = &none;
      const json::value* torn = object->if_contains("conflict");
      todo.push_back({std::string(stringOf(*payload, "entity")), std::string(stringOf(*payload, "finding")), true,
                      torn != nullptr && torn->is_bool() && torn->get_bool()});
      const bool named = todo.back().id() == last;
      if (!named) note(sigma, last + " names no finding");
      if (!named || contains(decided, last)) todo.pop_back();
    }
    const bool more = moreIn(seen, 0) || (!entries->empty() && last != stringIn(entries->back(), "id"));
    if (more && !last.empty())
      slotOf(sigma)["after"] = last;
    else
      slotOf(sigma).erase("after");
    sigma["todo"] = listOf(todo);
    return lookOn(std::move(sigma));
  }

  // The next of those that are to be looked at.
  static Turn lookOn(json::object sigma) {
    const std::vector<Finding> todo = findingsIn(sigma, "todo");
    if (todo.empty()) return act(std::move(sigma));
    const std::span<const Finding> all(todo), now = all.first(std::min(kAtOnce, all.size()));
    Looks looks;
    for (const Finding& one : now) {
      looks.push_back({"slice.read",
                       {{"domain", "verification"}, {"entity", one.entity}, {"role", "Triage"}, {"key", one.key}},
                       0});
      looks.push_back({"journal.read", {{"id", "disclosure/intake/" + idPart(one.entity)}}, 0});
    }
    sigma["now"] = listOf(now);
    sigma["todo"] = listOf(all.subspan(now.size()));
    sigma["stage"] = "findings";
    return {std::move(sigma), {}, std::move(looks)};
  }

  // Where each of them goes; then whether that has begun.
  static Turn onFindings(json::object sigma, const json::array& seen) {
    const std::vector<Finding> now = findingsIn(sigma, "now");
    std::vector<Finding> usable;
    Looks looks;
    json::array routes;
    for (std::size_t i = 0; i < now.size(); ++i) {
      const Finding& one = now[i];
      const json::object* slice = contentOf(seen, 2 * i);
      if (slice == nullptr) {  // a copy that lags, a policy: another day it may be there
        wait(sigma, one, "it cannot be seen");
        continue;
      }
      const std::string component = cellOf(*slice, "triage.component", one.key);
      if (component.empty()) {
        note(sigma, "finding " + one.key + " of " + one.entity + " has no component");
        if (one.waits) add(sigma, "over", one.kept());
        continue;
      }
      json::object route = routeOf(one, component, contentOf(seen, 2 * i + 1));
      looks.push_back({"slice.read",
                       {{"domain", "disclosure"},
                        {"entity", stringOf(route, "portfolio")},
                        {"role", "ReporterCoordination"},
                        {"key", one.v()}},
                       0});
      routes.push_back(std::move(route));
      usable.push_back(one);
    }
    if (looks.empty()) return lookOn(std::move(sigma));
    sigma["now"] = listOf(usable);
    sigma["routes"] = std::move(routes);
    sigma["stage"] = "portfolios";
    return {std::move(sigma), {}, std::move(looks)};
  }

  static json::object routeOf(const Finding& one, const std::string& component, const json::object* entry) {
    json::object route{{"portfolio", one.entity}, {"orgs", json::array{component}}};
    const json::object* named = entry != nullptr ? objectIn(*entry, "payload") : nullptr;
    if (named == nullptr) return route;
    if (const auto portfolio = stringOf(*named, "portfolio"); !portfolio.empty()) route["portfolio"] = portfolio;
    const json::object* byComponent = objectIn(*named, "orgs");
    if (const json::array* listed = byComponent != nullptr ? arrayOf(*byComponent, component) : nullptr)
      route["orgs"] = *listed;
    return route;
  }

  static Turn onPortfolios(json::object sigma, const json::array& seen) {
    const std::vector<Finding> now = findingsIn(sigma, "now");
    const json::array none, *known = arrayOf(sigma, "routes");
    const json::array routes = known != nullptr ? *known : none;
    for (std::size_t i = 0; i < now.size() && i < routes.size(); ++i) {
      const json::object* route = routes[i].if_object();
      if (route == nullptr) continue;
      const json::object* portfolio = contentOf(seen, i);
      if (portfolio == nullptr) {
        wait(sigma, now[i], "portfolio " + std::string(stringOf(*route, "portfolio")) + " has not begun");
      } else if (now[i].waits && !portfolio->empty()) {  // by a person, or in an earlier run
        add(sigma, "over", now[i].kept());
        add(sigma, "said",
            now[i].v() + " was taken in already" + (now[i].torn ? ": settle the entry that says it waits" : ""));
      } else {
        add(sigma, "intakes", json::array{now[i].kept(), *route});
      }
    }
    return lookOn(std::move(sigma));
  }

  static Turn act(json::object sigma) {
    Actions actions;
    const auto put = [&](const Finding& one) {
      actions.push_back(action("journal.put",
                               {{"id", one.id()},
                                {"type", kWaitingType},
                                {"payload", json::object{{"entity", one.entity}, {"finding", one.key}}}},
                               {one.id()}));
    };
    const auto remove = [&](const Finding& one) {
      actions.push_back(action("journal.remove", {{"id", one.id()}}, {one.id()}));
    };
    for (const Finding& one : findingsIn(sigma, "waiting"))
      if (!one.waits) put(one);
    for (const Finding& one : findingsIn(sigma, "over"))
      if (!one.torn) remove(one);
    // A run that takes in what was just verified too, where many came before it: the lists are bounded.
    const bool crowded = findingsIn(slotOf(sigma), "put").size() >= kOfARun;
    if (crowded || sigma.contains("pass") || sigma.contains("tidies")) {
      for (const Finding& one : firstOf(slotOf(sigma), "put")) put(one);
      for (const Finding& one : firstOf(slotOf(sigma), "over")) remove(one);
    }
    const json::array none, *intakes = arrayOf(sigma, "intakes");
    for (const json::value& intake : intakes != nullptr ? *intakes : none) {
      const auto finding = taken(intake);
      if (!finding) continue;
      // Where an intake is refused, those behind it in the same portfolio are not tried, and go on waiting.
      const json::object& route = intake.at(1).get_object();
      actions.push_back(proposal("disclosure", std::string(stringOf(route, "portfolio")), "ReporterCoordination",
                                 {{"type", "Intake"}, {"v", finding->v()}, {"orgs", route.at("orgs")}}));
    }
    if (sigma.contains("waiting")) sigma["left"] = true;
    for (const char* member : {"todo", "now", "routes", "waiting", "over", "stage"}) sigma.erase(member);
    if (actions.empty()) return finished(std::move(sigma), {});
    return {std::move(sigma), {}, std::move(actions)};
  }

  // Of a list in the slot, what a run sees to.
  static std::vector<Finding> firstOf(const json::object& slot, std::string_view member) {
    std::vector<Finding> findings = findingsIn(slot, member);
    if (findings.size() > kOfARun) findings.resize(kOfARun);
    return findings;
  }

  // The finding of a pair of finding and route.
  static std::optional<Finding> taken(const json::value& intake) {
    const json::array* pair = intake.if_array();
    return pair != nullptr && pair->size() == 2 && pair->at(1).is_object() ? findingOf(pair->at(0)) : std::nullopt;
  }

  static Turn finished(json::object sigma, const json::array& results) {
    std::vector<std::string> unusable;
    if (const json::array* list = arrayOf(sigma, "unusable"))
      for (const json::value& line : *list)
        if (line.is_string()) unusable.emplace_back(line.get_string());
    Finish finish = reportOf(results, unusable);
    bool left = sigma.contains("left");
    for (const json::value& result : results) {  // of the plan that stands, which may be another device's
      if (stringIn(result, "outcome") == "denied") finish.failed = left = true;  // or not tried
      if (stringIn(result, "tool") == "journal.put") left = true;
    }
    left = settle(sigma, results) || left;
    if (const json::array* said = arrayOf(sigma, "said"))
      for (const json::value& line : *said)
        if (line.is_string() && finish.answer.size() < 4'000) finish.answer += "\n" + std::string(line.get_string());
    schedule(sigma, left, finish);
    return {nullptr, {}, std::move(finish)};
  }

  // What became of each: which entries are to go and which to come. True: some are.
  static bool settle(json::object& sigma, const json::array& results) {
    std::vector<Finding> over = findingsIn(slotOf(sigma), "over"), put = findingsIn(slotOf(sigma), "put");
    const auto known = over.size() + put.size();
    for (const json::value& result : results) {
      const std::string_view outcome = stringIn(result, "outcome"), tool = stringIn(result, "tool");
      const json::object* asked = result.is_object() ? objectIn(result.get_object(), "arguments") : nullptr;
      const std::string id(asked != nullptr ? stringOf(*asked, "id") : std::string_view());
      const auto is = [&](const Finding& one) { return one.id() == id; };
      if (tool == "journal.remove" && outcome != "denied") std::erase_if(over, is);
      if (tool == "journal.put" && outcome == "applied") std::erase_if(put, is);
    }
    const auto left = over.size() + put.size();
    const json::array none, *intakes = arrayOf(sigma, "intakes");
    for (const json::value& intake : intakes != nullptr ? *intakes : none) {
      const auto finding = taken(intake);
      const json::value* result = finding ? resultOf(results, *finding) : nullptr;
      if (result == nullptr || finding->torn) continue;
      const bool denied = stringIn(*result, "outcome") == "denied";
      if (denied) add(sigma, "said", finding->v() + " waits: its intake was not made");
      if (denied != finding->waits) (denied ? put : over).push_back(*finding);
    }
    const auto all = over.size() + put.size();
    json::object& slot = slotOf(sigma);
    for (const auto& [member, list] : {std::pair{"over", &over}, std::pair{"put", &put}}) {
      if (list->size() > kMostKept) list->erase(list->begin(), list->end() - static_cast<std::ptrdiff_t>(kMostKept));
      slot.erase(member);
      if (!list->empty()) slot[member] = listOf(*list);
    }
    // Whoever gets nowhere, since a policy denies that too, comes back with the next pass.
    if (all > left || (left > 0 && left < known))
      slot["tidy"] = true;
    else if (sigma.contains("pass") || sigma.contains("tidies"))
      slot.erase("tidy");
    return all > 0;
  }

  static const json::value* resultOf(const json::array& results, const Finding& finding) {
    for (const json::value& result : results) {
      const json::object* arguments = result.is_object() ? objectIn(result.get_object(), "arguments") : nullptr;
      const json::object* intake = arguments != nullptr ? objectIn(*arguments, "action") : nullptr;
      if (intake != nullptr && stringIn(result, "tool") == "propose" && stringOf(*intake, "v") == finding.v())
        return &result;
    }
    return nullptr;
  }

  // A run that takes in what was just verified, or tidies up, leaves the time of the pass as it is: else whoever
  // verifies every day would put it off for ever.
  static void schedule(json::object& sigma, bool left, Finish& finish) {
    json::object& slot = slotOf(sigma);
    const std::int64_t nowMs = integerOf(sigma, "nowMs").value_or(0), due = integerOf(slot, "dueMs").value_or(0);
    const bool pass = sigma.contains("pass"), goesOn = slot.contains("after") || slot.contains("waiting");
    const bool overdue = due > 0 && due <= nowMs && sigma.contains("tidies");
    if (pass ? goesOn || left || due > 0 : (goesOn || left || overdue) && due <= nowMs) {
      finish.nextWakeAtMs = nowMs + (goesOn || overdue ? kSoonMs : kDayMs);
      slot["dueMs"] = *finish.nextWakeAtMs;
    } else if (sigma.contains("tidies") && due > 0) {
      finish.nextWakeAtMs = due;
    }
    if (slot.contains("tidy")) finish.nextWakeAtMs = nowMs + kSoonMs;
    if (slot != sigma["before"]) finish.slots = {{replication::SlotName::extension, slot}};
  }
};

}  // namespace

const Agent& verifiedIntake() {
  static const VerifiedIntake agent;
  return agent;
}

}  // namespace witan::domains::verification::workers
