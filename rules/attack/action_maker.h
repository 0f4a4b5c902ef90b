// ActionMaker: actions of one process, as an adversary would try them. Of one attack; deterministic.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/seams.h"
#include "base/time.h"
#include "kernel/domain_module.h"

namespace witan::rules {

class ActionMaker {
 public:
  ActionMaker(const kernel::DomainModule& module, Random& random);

  // An action that somebody proposed once.
  void learn(const json::object& action);
  // A new one of that process, for a state; its "type" included.
  json::object make(const kernel::ProcessInfo& process, const json::object& state, Time now);

 private:
  using Texts = std::vector<std::string>;

  bool oneIn(std::uint64_t n) { return random_.below(n) == 0; }
  template <class T>
  const T& anyOf(const std::vector<T>& from) {
    return from[random_.below(from.size())];
  }
  void learnValue(const std::string& where, const json::value& value);
  void readState(const json::object& state);
  void readValue(const json::value& value);
  json::value value(const std::string& where, const json::object& schema, Time now);
  std::string text(const std::string& where);
  std::string disguised(std::string known);
  std::int64_t number(const std::string& where);
  Date day(Time now);
  Time moment(Time now);

  Random& random_;
  Texts words_;                                               // of the fields' enumerations
  std::map<std::string, std::vector<json::object>> actions_;  // by process
  std::map<std::string, Texts> texts_;                        // by process and argument
  std::map<std::string, std::vector<std::int64_t>> numbers_;
  // Of the state at hand.
  Texts names_;
  std::vector<std::int64_t> held_;
  std::vector<Time> times_;
};

}  // namespace witan::rules
