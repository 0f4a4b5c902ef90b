// follow-up: reminds of tasks that are overdue. Wakes every hour, by its timer.
//
// A task is an entry of type "task": {"title", "dueMs", "status"}; one that is "open" after its time gets an entry
// "reminder/{task}" of type "reminder", once. Both lists are read to their end, a page of tasks at a time, each with
// the reminders that may be of them.
#include <algorithm>

#include "agents/builtin/builtin.h"
#include "agents/entry_agent.h"

namespace witan::agents {

namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::size_t kMostReminders = 32;  // of one wake; the others wait an hour

std::string idOf(const json::value& entry) {
  return entry.is_object() ? std::string(stringOf(entry.get_object(), "id")) : std::string();
}

bool overdue(const json::value& entry, std::int64_t nowMs) {
  const json::value* payload = entry.is_object() ? entry.get_object().if_contains("payload") : nullptr;
  if (payload == nullptr || !payload->is_object()) return false;
  const auto due = integerOf(*payload, "dueMs");
  return due && *due <= nowMs && stringOf(payload->get_object(), "status") == "open";
}

std::string reminderOf(const std::string& task) { return "reminder/" + idPart(task); }

// By the ids of their reminders, the overdue tasks that none was seen of.
using Overdue = std::map<std::string, std::string>;

Overdue overdueIn(const json::object& sigma) {
  Overdue overdue;
  if (const json::array* tasks = arrayOf(sigma, "overdue"))
    for (const json::value& task : *tasks)
      if (task.is_string()) overdue.emplace(reminderOf(std::string(task.get_string())), task.get_string());
  return overdue;
}

std::string lastIn(const json::array& entries) { return entries.empty() ? std::string() : idOf(entries.back()); }

Look listed(std::string_view type, const std::string& after) {
  json::object arguments{{"type", type}};
  if (!after.empty()) arguments["after"] = after;
  return {"journal.list", std::move(arguments), 0};
}

class FollowUp final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{
        .id = "follow-up",
        .version = "2",
        .what = "reminds of tasks that are overdue",
        .category = "journal",
        .timers = {{"hourly", kHourMs}},
        .capabilities = {{"journal.list"}, {"journal.put", kMostReminders, {"reminder/"}, {}}},
        .budget = {.steps = 200},  // a page each
    };
    return kSpec;
  }

  Turn step(const json::value& sigma, const Input& input) const override {
    const json::object none;
    json::object state = sigma.is_object() ? sigma.get_object() : none;
    if (input.kind == InputKind::wake)
      return {json::object{{"nowMs", integerOf(input.content, "nowMs").value_or(0)}},
              {},
              Looks{listed("task", ""), listed("reminder", "")}};
    if (input.kind != InputKind::observation) return {nullptr, {}, Finish{"reminded", {}, {}, {}, false}};
    return state.contains("overdue") ? seeReminders(std::move(state), input.content, 0)
                                     : seeTasks(std::move(state), input.content);
  }

 private:
  static Turn unread() { return {nullptr, {}, Finish{"the tasks could not be read", {}, {}, {}, true}}; }

  // A page of tasks; the first one comes with a page of reminders.
  static Turn seeTasks(json::object sigma, const json::value& seen) {
    const json::array* tasks = entriesIn(seen, 0);
    if (tasks == nullptr) return unread();
    const std::int64_t nowMs = integerOf(sigma, "nowMs").value_or(0);
    json::array overdueOnes;
    for (const json::value& task : *tasks)
      if (overdue(task, nowMs)) overdueOnes.emplace_back(idOf(task));
    sigma["after"] = moreIn(seen, 0) ? lastIn(*tasks) : std::string();
    const bool any = !overdueOnes.empty();
    sigma["overdue"] = std::move(overdueOnes);
    if (seen.is_array() && seen.get_array().size() > 1) return seeReminders(std::move(sigma), seen, 1);
    return any ? readReminders(std::move(sigma), "") : readOn(std::move(sigma));
  }

  // A page of reminders: which of the tasks need none?
  static Turn seeReminders(json::object sigma, const json::value& seen, std::size_t n) {
    const json::array* reminders = entriesIn(seen, n);
    if (reminders == nullptr) return unread();
    Overdue left = overdueIn(sigma);
    for (const json::value& reminder : *reminders) left.erase(idOf(reminder));
    json::array tasks;
    for (const auto& [reminder, task] : left) tasks.emplace_back(task);
    sigma["overdue"] = std::move(tasks);
    if (left.empty()) return readOn(std::move(sigma));
    const std::string last = moreIn(seen, n) ? lastIn(*reminders) : std::string();
    return last.empty() || last >= left.rbegin()->first ? remind(sigma, left) : readReminders(std::move(sigma), last);
  }

  static Turn readReminders(json::object sigma, const std::string& seenTo) {
    std::string before = overdueIn(sigma).begin()->first;
    before.pop_back();  // what sorts before it
    Looks looks{listed("reminder", std::max(before, seenTo))};
    return {std::move(sigma), {}, std::move(looks)};
  }

  static Turn readOn(json::object sigma) {
    const std::string after(stringOf(sigma, "after"));
    if (after.empty()) return {nullptr, {}, Finish{"nothing is overdue", {}, {}, {}, false}};
    sigma.erase("overdue");
    Looks looks{listed("task", after)};
    return {std::move(sigma), {}, std::move(looks)};
  }

  static Turn remind(const json::object& sigma, const Overdue& left) {
    const std::int64_t nowMs = integerOf(sigma, "nowMs").value_or(0);
    Actions actions;
    for (const auto& [id, task] : left) {
      if (actions.size() == kMostReminders) break;
      actions.push_back(action(
          "journal.put",
          {{"id", id}, {"type", "reminder"}, {"payload", json::object{{"task", task}, {"sinceMs", nowMs}}}}, {id}));
    }
    return {nullptr, {}, std::move(actions)};
  }
};

}  // namespace

const Agent& followUp() {
  static const FollowUp agent;
  return agent;
}

}  // namespace witan::agents
