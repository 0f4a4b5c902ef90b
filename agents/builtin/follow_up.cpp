// follow-up: reminds of tasks that are overdue. Wakes every hour, by its timer.
//
// A task is an entry of type "task": {"title", "dueMs", "status"}; one that is "open" after its time gets an entry
// "reminder/{task}" of type "reminder", once.
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
    if (input.kind == InputKind::wake)
      return {json::object{{"nowMs", integerOf(input.content, "nowMs").value_or(0)}},
              {},
              Looks{{"journal.list", {{"type", "task"}}, 0}, {"journal.list", {{"type", "reminder"}}, 0}}};
    if (input.kind == InputKind::observation) return remind(integerOf(sigma, "nowMs").value_or(0), input.content);
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
