#include "domains/disclosure/agents/worker.h"

#include <algorithm>
#include <map>
#include <set>

namespace witan::domains::disclosure::workers {

namespace {

constexpr std::string_view kPlace = "disclosure/";
constexpr std::string_view kNames[] = {"case", "open", "due", "opened"};
constexpr std::size_t kAtOnce = 4;         // vulnerabilities of one turn: an episode takes 16 looks a turn
constexpr std::size_t kMostPlanned = 200;  // actions of one run; the others wait for the next night
// Of one case: it goes into the look's arguments, and these have 64 KiB.
constexpr std::size_t kMostCaseBytes = 60 * 1024;
// Of one night: two steps for four of them, and the budget has 400 steps, of which the pages of the list take some.
constexpr std::size_t kMostANight = 720;
constexpr std::int64_t kDayMs = 24 * 3'600'000;

// Of "disclosure/P/V/case": "disclosure/P/V/" and "case"; empty: it is none of ours.
std::pair<std::string, std::string> split(std::string_view id) {
  const auto slash = id.rfind('/');
  if (!id.starts_with(kPlace) || slash == std::string_view::npos || slash + 1 == id.size()) return {};
  return {std::string(id.substr(0, slash + 1)), std::string(id.substr(slash + 1))};
}

const json::object* contentOf(const json::value& one) {
  const json::object* answer = one.if_object();
  const json::value* content = answer != nullptr ? answer->if_contains("content") : nullptr;
  return content != nullptr ? content->if_object() : nullptr;
}

const json::object* payloadOf(const json::object& entry) {
  const json::value* payload = entry.if_contains("payload");
  return payload != nullptr ? payload->if_object() : nullptr;
}

bool flag(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(member);
  return value != nullptr && value->is_bool() && value->get_bool();
}

DisclosureCase caseOf(const json::object& kept) {
  return {std::string(stringOf(kept, "stem")),
          std::string(stringOf(kept, "portfolio")),
          std::string(stringOf(kept, "v")),
          flag(kept, "open"),
          flag(kept, "due"),
          flag(kept, "opened")};
}

json::object toJson(const DisclosureCase& one) {
  return {{"stem", one.stem}, {"portfolio", one.portfolio}, {"v", one.v}, {"open", one.open},
          {"due", one.due},   {"opened", one.opened}};
}

std::vector<std::string> textsIn(const json::object& sigma, std::string_view member) {
  std::vector<std::string> texts;
  if (const json::array* list = arrayOf(sigma, member))
    for (const json::value& text : *list)
      if (text.is_string()) texts.emplace_back(text.get_string());
  return texts;
}

template <class Texts>
json::array listOf(const Texts& texts) {
  json::array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return list;
}

// What is left alone, and why: the run fails with it, so that its status and the log say so.
void note(json::object& sigma, const std::string& line) {
  json::value& list = sigma["unusable"];
  if (!list.is_array()) list = json::array{};
  list.get_array().emplace_back(line);
}

// What is to be done about one vulnerability: all of it, or nothing if the plan is full.
void keep(json::object& sigma, const std::string& what, const Actions& actions) {
  json::value& plan = sigma["plan"];
  if (!plan.is_array()) plan = json::array{};
  if (actions.size() > kMostPlanned)
    return note(sigma, what + ": " + std::to_string(actions.size()) + " actions at once, and a run takes " +
                           std::to_string(kMostPlanned) + "; a person has to begin");
  if (plan.get_array().size() + actions.size() > kMostPlanned) return;
  for (const replication::PlanAction& one : actions)
    plan.get_array().push_back(
        json::object{{"tool", one.toolName}, {"arguments", one.arguments}, {"targets", listOf(one.targets)}});
}

DisclosureAdvice adviceOf(const json::object& content) {
  DisclosureAdvice advice;
  if (const json::array* actions = arrayOf(content, "actions")) advice.actions = *actions;
  advice.due = stringOf(content, "due");
  advice.over = flag(content, "over");
  return advice;
}

// The entries that readOn() asked for, in its order.
std::vector<std::string> askedFor(const json::object& sigma) {
  std::vector<std::string> ids = textsIn(sigma, "others");
  if (ids.size() > kAtOnce) ids.resize(kAtOnce);
  if (!ids.empty()) return ids;
  for (const std::string& stem : textsIn(sigma, "reading"))
    for (const std::string_view name : kNames) ids.push_back(stem + std::string(name));
  return ids;
}

}  // namespace

replication::PlanAction DisclosureWorker::say(const DisclosureCase& one, std::string_view name, json::object more) {
  more["portfolio"] = one.portfolio;
  more["v"] = one.v;
  const std::string id = one.stem + std::string(name);
  return action("journal.put", {{"id", id}, {"type", "disclosure." + std::string(name)}, {"payload", std::move(more)}},
                {id, one.stem});
}

Turn DisclosureWorker::step(const json::value& sigma, const Input& input) const {
  const json::object none;
  const json::array empty;
  const json::object& state = sigma.is_object() ? sigma.get_object() : none;
  const json::array& list = input.content.is_array() ? input.content.get_array() : empty;
  const std::string_view stage = stringOf(state, "stage");
  if (input.kind == InputKind::wake) return onWake(input.content.is_object() ? input.content.get_object() : none);
  if (input.kind == InputKind::results) return onResults(state, list);
  if (stage == "list") return seeList(state, list);
  if (stage == "entries") return seeEntries(state, list);
  return seeAdvice(state, list);
}

// Of a change: the vulnerability that it is about. Otherwise, at night: all that are under way, page by page.
Turn DisclosureWorker::onWake(const json::object& wake) const {
  json::object sigma{{"nowMs", integerOf(wake, "nowMs").value_or(0)}};
  std::set<std::string> stems, others;
  if (const json::array* changes = arrayOf(wake, "changes"))
    for (const json::value& change : *changes) {
      if (!change.is_object()) continue;
      const std::string id(stringOf(change.get_object(), "id"));
      const auto [stem, name] = split(id);
      if (stem.empty()) continue;
      if (concerns(name)) others.insert(id);
      if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) stems.insert(stem);
    }
  sigma["todo"] = listOf(stems);
  sigma["others"] = listOf(others);
  if (!stems.empty() || !others.empty()) return readOn(std::move(sigma));
  if (nightly().empty()) return {nullptr, {}, Finish{"nothing of a case changed", {}, {}, {}, false}};
  sigma["stage"] = "list";
  return {std::move(sigma), {}, Looks{{"journal.list", {{"type", nightly()}}, 0}}};
}

Turn DisclosureWorker::seeList(json::object sigma, const json::array& seen) const {
  const json::object* content = seen.empty() ? nullptr : contentOf(seen[0]);
  const json::array* entries = content != nullptr ? arrayOf(*content, "entries") : nullptr;
  if (entries == nullptr) return {nullptr, {}, Finish{"the cases could not be read", {}, {}, {}, true}};
  const std::vector<std::string> before = textsIn(sigma, "todo");
  std::set<std::string> stems(before.begin(), before.end());
  std::string last;
  for (const json::value& entry : *entries)
    if (entry.is_object()) {
      last = stringOf(entry.get_object(), "id");
      if (const std::string stem = split(last).first; !stem.empty()) stems.insert(stem);
    }
  if (const std::int64_t large = integerOf(*content, "tooLarge").value_or(0); large > 0)
    note(sigma, std::to_string(large) + " cases that are too large for a list");
  sigma["todo"] = listOf(stems);
  if (flag(*content, "more")) {
    if (!last.empty())
      return {std::move(sigma), {}, Looks{{"journal.list", {{"type", nightly()}, {"after", last}}, 0}}};
    note(sigma, "the list of cases could not be read to its end");
  }
  if (stems.empty() && !sigma.contains("unusable"))
    return {nullptr, {}, Finish{"no case is under way", {}, {}, {}, false}};
  // A plan ends at its first failure: another case comes first each night, so that none is behind another for ever.
  std::vector<std::string> order(stems.begin(), stems.end());
  const auto night =
      static_cast<std::size_t>(std::max<std::int64_t>(0, integerOf(sigma, "nowMs").value_or(0)) / kDayMs);
  const std::size_t stride = order.size() > kMostANight ? kMostANight : 1;
  if (!order.empty())
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(night * stride % order.size()), order.end());
  if (order.size() > kMostANight) order.resize(kMostANight);
  sigma["todo"] = listOf(order);
  return readOn(std::move(sigma));
}

// The next few vulnerabilities, or, when all were looked at, the plan.
Turn DisclosureWorker::readOn(json::object sigma) const {
  Looks looks;
  std::vector<std::string> todo = textsIn(sigma, "todo"), now, later;
  const std::vector<std::string> others = textsIn(sigma, "others");
  for (std::size_t i = 0; i < others.size() && i < kAtOnce; ++i)
    looks.push_back({"journal.read", {{"id", others[i]}}, 0});
  for (const std::string& stem : todo) (looks.empty() && now.size() < kAtOnce ? now : later).push_back(stem);
  for (const std::string& stem : now)
    for (const std::string_view name : kNames) looks.push_back({"journal.read", {{"id", stem + std::string(name)}}, 0});
  if (looks.empty()) return act(std::move(sigma));
  sigma["stage"] = "entries";
  sigma["reading"] = listOf(now);
  sigma["todo"] = listOf(later);
  return {std::move(sigma), {}, std::move(looks)};
}

Turn DisclosureWorker::seeEntries(json::object sigma, const json::array& seen) const {
  Payloads entries;
  const std::vector<std::string> asked = askedFor(sigma);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const json::object *entry = contentOf(seen[i]), *answer = seen[i].if_object();
    if (entry == nullptr && answer != nullptr && i < asked.size())
      if (const std::string_view error = stringOf(*answer, "error"); !error.empty())
        note(sigma, asked[i] + ": " + std::string(error));
    if (entry == nullptr) continue;
    if (const json::object* payload = payloadOf(*entry))
      entries.insert_or_assign(std::string(stringOf(*entry, "id")), *payload);
  }
  planOthers(sigma, entries);
  Looks looks;
  json::array kept;
  for (const std::string& stem : textsIn(sigma, "reading")) {
    const auto about = entries.find(stem + "case");
    if (about == entries.end()) continue;
    const auto has = [&](const char* name) { return entries.contains(stem + name); };
    const DisclosureCase one{stem,
                             std::string(stringOf(about->second, "portfolio")),
                             std::string(stringOf(about->second, "v")),
                             has("open"),
                             has("due"),
                             has("opened")};
    if (one.portfolio.empty() || one.v.empty()) {
      note(sigma, stem + "case names no portfolio or no vulnerability");
    } else if (const std::size_t size = canonicalJson(about->second).size(); size > kMostCaseBytes) {
      note(sigma, stem + "case has " + std::to_string(size) + " bytes, and an agent takes " +
                      std::to_string(kMostCaseBytes) + " of one case");
    } else if (mayBegin(one)) {
      kept.push_back(toJson(one));
      looks.push_back({"disclosure.next",
                       {{"role", role()}, {"case", about->second}, {"due", one.due}, {"opened", one.opened}},
                       0});
    }
  }
  if (looks.empty()) return readOn(std::move(sigma));
  sigma["stage"] = "advice";
  sigma["reading"] = std::move(kept);
  return {std::move(sigma), {}, std::move(looks)};
}

void DisclosureWorker::planOthers(json::object& sigma, const Payloads& entries) const {
  const std::vector<std::string> others = textsIn(sigma, "others");
  for (std::size_t i = 0; i < others.size(); ++i) {
    const auto entry = entries.find(others[i]);
    if (i >= kAtOnce) note(sigma, others[i] + ": too many changes at once; edit it again");
    if (entry == entries.end()) continue;
    auto plans = plan(entry->second);
    if (plans.ok())
      keep(sigma, others[i], *plans);
    else
      note(sigma, others[i] + ": " + plans.error().message);
  }
  sigma.erase("others");
}

Turn DisclosureWorker::seeAdvice(json::object sigma, const json::array& seen) const {
  const json::array none, *found = arrayOf(sigma, "reading");
  const json::array cases = found != nullptr ? *found : none;
  for (std::size_t i = 0; i < seen.size() && i < cases.size(); ++i) {
    const json::object* kept = cases[i].if_object();
    const json::object* content = contentOf(seen[i]);
    if (kept == nullptr) continue;
    const DisclosureCase one = caseOf(*kept);
    if (content == nullptr) {
      const json::object* answer = seen[i].if_object();
      note(sigma, one.stem + ": " + (answer != nullptr ? std::string(stringOf(*answer, "error")) : "no answer"));
      continue;
    }
    const DisclosureAdvice advice = adviceOf(*content);
    if (!advice.over) sigma["underWay"] = true;
    Actions actions;
    for (const json::value& what : advice.actions)
      if (what.is_object()) {
        auto proposed = proposal("disclosure", one.portfolio, role(), what.get_object());
        proposed.targets.push_back(one.stem);  // what is said of it afterwards rests on it
        actions.push_back(std::move(proposed));
      }
    tell(one, advice, actions);
    keep(sigma, one.stem, actions);
  }
  return readOn(std::move(sigma));
}

Turn DisclosureWorker::act(json::object sigma) const {
  Actions actions;
  if (const json::array* plan = arrayOf(sigma, "plan"))
    for (const json::value& one : *plan)
      if (one.is_object())
        actions.push_back({std::string(stringOf(one.get_object(), "tool")),
                           std::string(stringOf(one.get_object(), "arguments")),
                           {},
                           textsIn(one.get_object(), "targets")});
  for (const char* member : {"plan", "todo", "reading", "others"}) sigma.erase(member);
  if (actions.empty()) return onResults(sigma, {});
  return {std::move(sigma), {}, std::move(actions)};
}

Turn DisclosureWorker::onResults(const json::object& sigma, const json::array& results) const {
  Finish finish = reportOf(results, textsIn(sigma, "unusable"));
  const std::int64_t nowMs = integerOf(sigma, "nowMs").value_or(0);
  if (!nightly().empty() && flag(sigma, "underWay")) finish.nextWakeAtMs = (nowMs / kDayMs + 1) * kDayMs;
  return {nullptr, {}, std::move(finish)};
}

}  // namespace witan::domains::disclosure::workers
