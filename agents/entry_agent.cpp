#include "agents/entry_agent.h"

#include <algorithm>
#include <set>

#include "base/identity.h"
#include "replication/records/journal_entity.h"

namespace witan::agents {

namespace {

constexpr std::size_t kMostEntries = 64;  // of one wake
constexpr std::size_t kMostIdPart = 100;

Look reading(std::string_view id) { return {"journal.read", {{"id", id}}, 0}; }

// The entries that `journal.read` answered, without those that are gone or could not be read.
Entries entriesOf(const json::array& seen) {
  Entries entries;
  for (const json::value& one : seen) {
    const json::object* content = nullptr;
    if (const json::object* answer = one.if_object())
      if (const json::value* value = answer->if_contains("content")) content = value->if_object();
    if (content == nullptr) continue;
    Entry entry{std::string(stringOf(*content, "id")), std::string(stringOf(*content, "type")), {}};
    if (const json::value* payload = content->if_contains("payload"); payload != nullptr && payload->is_object())
      entry.payload = payload->get_object();
    if (!entry.id.empty()) entries.insert_or_assign(entry.id, std::move(entry));
  }
  return entries;
}

json::array stringsOf(const std::set<std::string>& texts) {
  json::array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

std::set<std::string> textsOf(const json::object& sigma, std::string_view name) {
  std::set<std::string> texts;
  if (const json::array* array = arrayOf(sigma, name))
    for (const json::value& text : *array)
      if (text.is_string()) texts.emplace(text.get_string());
  return texts;
}

}  // namespace

Turn EntryAgent::step(const json::value& sigma, const Input& input) const {
  const json::object none;
  const json::object& state = sigma.is_object() ? sigma.get_object() : none;
  const json::array empty;
  const json::array& list = input.content.is_array() ? input.content.get_array() : empty;
  switch (input.kind) {
    case InputKind::wake: return onWake(input.content.is_object() ? input.content.get_object() : none);
    case InputKind::observation: return onObservation(state, list);
    case InputKind::results: return onResults(state, list);
  }
  return {};
}

Turn EntryAgent::onWake(const json::object& wake) const {
  std::set<std::string> ids;
  if (const json::array* changes = arrayOf(wake, "changes"))
    for (const json::value& change : *changes)
      if (change.is_object() && stringOf(change.get_object(), "type") == replication::kJournalPayload)
        ids.emplace(stringOf(change.get_object(), "id"));
  if (ids.empty()) return {nullptr, {}, Finish{"nothing in the journal changed", {}, {}, {}, false}};
  Looks looks;
  for (const std::string& id : ids)
    if (looks.size() < kMostEntries) looks.push_back(reading(id));
  return {json::object{{"changed", stringsOf(ids)}}, {}, std::move(looks)};
}

Turn EntryAgent::onObservation(json::object sigma, const json::array& seen) const {
  json::array all;
  if (const json::array* before = arrayOf(sigma, "seen")) all = *before;
  all.insert(all.end(), seen.begin(), seen.end());
  const Entries entries = entriesOf(all);
  const std::set<std::string> changed = textsOf(sigma, "changed");
  std::set<std::string> further;
  if (!sigma.contains("seen"))
    for (const auto& [id, entry] : entries)
      if (changed.contains(id) && concerns(entry))
        for (std::string& also : alsoReads(entry))
          if (!entries.contains(also)) further.insert(std::move(also));
  sigma["seen"] = all;
  if (further.empty()) return planAll(entries, std::move(sigma));
  Looks looks;
  for (const std::string& id : further) looks.push_back(reading(id));
  return {std::move(sigma), {}, std::move(looks)};
}

Turn EntryAgent::planAll(const Entries& entries, json::object sigma) const {
  const std::set<std::string> changed = textsOf(sigma, "changed");
  Turn turn;
  Actions actions;
  json::array unusable;
  for (const auto& [id, entry] : entries) {
    if (!changed.contains(id) || !concerns(entry)) continue;
    auto planned = plan(entry, entries);
    if (!planned.ok()) {
      unusable.emplace_back(id + ": " + planned.error().message);
      turn.thoughts.push_back(id + " cannot be used (" + planned.error().message + ")");
      continue;
    }
    std::move(planned->begin(), planned->end(), std::back_inserter(actions));
  }
  sigma.erase("seen");
  sigma["unusable"] = std::move(unusable);
  if (actions.empty()) return onResults(sigma, {});
  turn.sigma = std::move(sigma);
  turn.output = std::move(actions);
  return turn;
}

Turn EntryAgent::onResults(const json::object& sigma, const json::array& results) const {
  const std::set<std::string> unusable = textsOf(sigma, "unusable");
  return {nullptr, {}, reportOf(results, std::vector<std::string>(unusable.begin(), unusable.end()))};
}

bool hasFailed(const json::object& result) {
  const json::value* what = result.if_contains("result");
  const bool waits = what != nullptr && what->is_object() && what->get_object().contains("waiting");
  return stringOf(result, "outcome") == "failed" && !waits;
}

Finish reportOf(const json::array& results, std::span<const std::string> leftAlone) {
  std::string answer;
  const auto say = [&](const std::string& line) { answer += (answer.empty() ? "" : "\n") + line; };
  bool failed = false;
  for (const json::value& one : results) {
    const json::object* result = one.if_object();
    if (result == nullptr) continue;
    const json::value* what = result->if_contains("result");
    failed |= hasFailed(*result);
    say(concat(stringOf(*result, "tool"), " ", stringOf(*result, "outcome"),
               what != nullptr ? ": " + canonicalJson(*what) : ""));
  }
  for (const std::string& line : leftAlone) say("left alone: " + line), failed = true;
  return {answer.empty() ? "nothing to do" : std::move(answer), {}, {}, {}, failed};
}

Turn keepShown(const Input& input) {
  if (input.kind == InputKind::results)
    return {nullptr, {}, reportOf(input.content.is_array() ? input.content.get_array() : json::array(), {})};
  const json::object& conflict = input.content.at("conflict").get_object();
  const std::string id(stringOf(conflict, "id"));
  json::object arguments{{"id", id}, {"settles", conflict.at("settles")}};
  if (stringOf(conflict, "scope") != "main") arguments["scope"] = conflict.at("scope");
  return {nullptr, {}, Actions{action("journal.put", arguments, {id})}};
}

SubscriptionSpec onEntries(std::string_view type) {
  return {concat("entries:", type),
          "",
          {{{TokenClass::subtypeToken, std::string(replication::kJournalNamespace), std::string(type)}}, {}},
          nullptr};
}

replication::PlanAction action(std::string_view tool, const json::object& arguments, std::vector<std::string> targets) {
  return {std::string(tool), canonicalJson(arguments), {}, std::move(targets)};
}

replication::PlanAction proposal(std::string_view domain, std::string_view entity, std::string_view role,
                                 json::object what) {
  return action("propose", {{"domain", domain}, {"entity", entity}, {"role", role}, {"action", std::move(what)}},
                {std::string(entity)});
}

std::string idPart(std::string_view text) {
  std::string id;
  for (const char c : text.substr(0, kMostIdPart)) id += validateId("id", std::string_view(&c, 1)).ok() ? c : '-';
  return id;
}

}  // namespace witan::agents
