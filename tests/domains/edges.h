// A partition fed one sentence at a time: for tests of a domain's rules at their edges.
#pragma once

#include "tests/domains/scenario.h"

namespace witan::domains::test {

// One entity "e" of a domain, from 2026-01-01T00:00:00Z on.
class OneEntity {
 public:
  explicit OneEntity(std::string_view domain, std::string_view policy = "{}", std::string_view init = "{}")
      : module(makeDomain(domain, objectOf(policy)).value()), partition(*module) {
    const Decision begun = partition.init("e", objectOf(init), Time{kFirst});
    WITAN_CHECK(begun.outcome == Outcome::initialised, begun.message);
  }

  // Days (and seconds) after the beginning.
  static Time at(std::int64_t days, std::int64_t seconds = 0) {
    return Time{kFirst + days * kMicrosPerDay + seconds * kMicrosPerSecond};
  }
  static std::string when(std::int64_t days, std::int64_t seconds = 0) { return formatTime(at(days, seconds)); }

  // The outcome of a proposal by the process's own role (or `role`), worded as the CLI does.
  std::string propose(const std::string& action, Time t, std::string role = {}) {
    const ActionPtr parsed = kernel::test::actionOf(*module, action);
    if (role.empty()) role = module->signature().processes[parsed->process].role;
    const std::string id = "o" + std::to_string(++operations_);
    last = partition.propose({"e", role, id, "", "", parsed.get(), t, false});
    return wording(last);
  }
  std::string decide(bool commit, const std::string& edit, Time t, CommitBase base = CommitBase::candidate) {
    const json::object fields = objectOf(edit);
    const std::string id = "o" + std::to_string(++operations_);
    CounselorDecision d;
    d.entity = "e";
    d.counselor = module->signature().counselors.front();
    d.operationId = id;
    d.commit = commit;
    d.base = base;
    d.edit = &fields;
    d.at = t;
    last = partition.decide(d);
    return wording(last);
  }
  std::string state() const { return kernel::test::stateJson(*module, partition.state("e")); }
  json::value field(std::string_view name) const {
    const json::object all = objectOf(state());
    const json::value* found = all.if_contains(name);
    return found == nullptr ? json::value() : *found;
  }
  // What the whole list says of the state with `edit` written into it: the first that does not pass, "" if all do.
  std::string firstFailing(const std::string& edit) const {
    const EntityPtr copy = module->clone(*partition.state("e"));
    const Status written = module->applyWrites(*copy, objectOf(edit));
    WITAN_CHECK(written.ok(), written.ok() ? "" : written.error().message);
    const std::vector<Verdict> verdicts = module->walk(*copy);
    for (std::size_t i = 0; i < verdicts.size(); ++i)
      if (!verdicts[i].passed()) return module->signature().invariants[i].id;
    return {};
  }

  static constexpr std::int64_t kFirst = 20'454 * kMicrosPerDay;
  std::unique_ptr<DomainModule> module;
  Partition partition;
  Decision last;

 private:
  int operations_ = 0;
};

}  // namespace witan::domains::test
