// follow-up: reminds of tasks that are overdue. Wakes every hour, by its timer.
//
// A task is an entry of type "task": {"title", "dueMs", "status"}; one that is "open" after its time gets an entry
// "reminder/{task}" of type "reminder", once.
#include "agents/entry_agent.h"

namespace witan::agents {

namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::size_t kMostReminders = 32;  // of one wake; the others wait an hour

const json::array* entriesIn(const json::value& answers, std::size_t n) {
  const json::array* list = answers.if_array();
  if (list == nullptr || list->size() <= n || !(*list)[n].is_object()) return nullptr;
  const json::value* content = (*list)[n].get_object().if_contains("content");
  if (content == nullptr || !content->is_object()) return nullptr;
  const json::value* entries = content->get_object().if_contains("entries");
  return entries != nullptr ? entries->if_array() : nullptr;
}

std::string idOf(const json::value& entry) {
  const json::value* id = entry.is_object() ? entry.get_object().if_contains("id") : nullptr;
  return id != nullptr && id->is_string() ? std::string(id->get_string()) : std::string();
}

bool overdue(const json::value& entry, std::int64_t nowMs) {
  const json::value* payload = entry.is_object() ? entry.get_object().if_contains("payload") : nullptr;
  if (payload == nullptr || !payload->is_object()) return false;
  const json::value* due = payload->get_object().if_contains("dueMs");
  const json::value* status = payload->get_object().if_contains("status");
  return due != nullptr && due->is_int64() && due->get_int64() <= nowMs && status != nullptr && status->is_string() &&
         status->get_string() == "open";
}

class FollowUp final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{
        .id = "follow-up",
        .version = "1",
        .what = "reminds of tasks that are overdue",
        .category = "journal",
        .timers = {{"hourly", kHourMs}},
        .capabilities = {{"journal.list"}, {"journal.put", kMostReminders, {"reminder/"}, {}}},
    };
    return kSpec;
  }

  Turn step(const json::value& sigma, const Input& input) const override {
    if (input.kind == InputKind::wake) {
      std::int64_t nowMs = 0;
      if (const json::object* wake = input.content.if_object())
        if (const json::value* now = wake->if_contains("nowMs"); now != nullptr && now->is_int64())
          nowMs = now->get_int64();
      return {json::object{{"nowMs", nowMs}},
              {},
              Looks{{"journal.list", {{"type", "task"}}, 0}, {"journal.list", {{"type", "reminder"}}, 0}}};
    }
    if (input.kind == InputKind::observation) {
      const json::value* now = sigma.is_object() ? sigma.get_object().if_contains("nowMs") : nullptr;
      return remind(now != nullptr && now->is_int64() ? now->get_int64() : 0, input.content);
    }
    return {nullptr, {}, Finish{"reminded", {}, {}, {}, false}};
  }

 private:
  static Turn remind(std::int64_t nowMs, const json::value& seen) {
    const json::array *tasks = entriesIn(seen, 0), *reminders = entriesIn(seen, 1);
    if (tasks == nullptr || reminders == nullptr)
      return {nullptr, {}, Finish{"the tasks could not be read", {}, {}, {}, true}};
    std::map<std::string, bool> reminded;
    for (const json::value& reminder : *reminders) reminded[idOf(reminder)] = true;
    Actions actions;
    for (const json::value& task : *tasks) {
      const std::string id = "reminder/" + idPart(idOf(task));
      if (actions.size() == kMostReminders || !overdue(task, nowMs) || reminded.contains(id)) continue;
      actions.push_back(action(
          "journal.put",
          {{"id", id}, {"type", "reminder"}, {"payload", json::object{{"task", idOf(task)}, {"sinceMs", nowMs}}}},
          {id}));
    }
    if (actions.empty()) return {nullptr, {}, Finish{"nothing is overdue", {}, {}, {}, false}};
    return {nullptr, {}, std::move(actions)};
  }
};

}  // namespace

const Agent& followUp() {
  static const FollowUp agent;
  return agent;
}

}  // namespace witan::agents
