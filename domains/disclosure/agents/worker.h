// DisclosureWorker: what the built-in agents of the four roles of the domain disclosure have in common. Each works on
// one vulnerability at a time and sees of it what people entered, what the others said, and through "disclosure.next"
// what its role's rules make of its role's slice (domains/disclosure/advice.cpp): no agent sees another role's.
//
// Entries of the journal about vulnerability V of portfolio P stand under "disclosure/P/V/":
//   case    of type "disclosure.case", entered by people and bridges: {"portfolio", "v", "orgs"} and what is known from
//           outside (domains/disclosure/advice.cpp, Case)
//   open    by disclosure-reports: it was taken in, the others may begin
//   due     by disclosure-reports: the day of disclosure has come, and why
//   opened  by disclosure-commitments: the commitment to the report is open to all
// A portfolio begins with "disclosure/P/portfolio" of type "disclosure.portfolio" ({"portfolio", "fields"}); a joint
// disclosure with "disclosure/P/G/group" of type "disclosure.group" ({"portfolio", "group", "members", "planned"}).
//
// Pure, as agents/agent.h wants it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agents/entry_agent.h"

namespace witan::domains::disclosure::workers {

using namespace agents;

// One vulnerability as far as the journal tells.
struct DisclosureCase {
  std::string stem;  // "disclosure/P/V/"
  std::string portfolio, v;
  bool open = false, due = false, opened = false;
};
// What "disclosure.next" answered.
struct DisclosureAdvice {
  json::array actions;
  std::string due;
  bool over = false;
};

class DisclosureWorker : public Agent {
 public:
  Turn step(const json::value& sigma, const Input& input) const final;

 protected:
  virtual std::string_view role() const = 0;
  // Whether the role has something to say of a vulnerability that stands so.
  virtual bool mayBegin(const DisclosureCase& one) const = 0;
  // What the agent says to the others, after its proposals.
  virtual void tell(const DisclosureCase&, const DisclosureAdvice&, Actions&) const {}
  // Entries of the portfolio itself that it acts on: their last name, and what it does.
  virtual bool concerns(std::string_view) const { return false; }
  virtual Result<Actions> plan(const json::object&) const { return Actions{}; }
  // The type of entries that it goes through every night, for days that have come; empty: it does not.
  virtual std::string_view nightly() const { return {}; }

  // An entry "disclosure/P/V/{name}" of type "disclosure.{name}".
  static replication::PlanAction say(const DisclosureCase& one, std::string_view name, json::object more = {});

 private:
  using Payloads = std::map<std::string, json::object, std::less<>>;  // of entries, by id

  Turn onWake(const json::object& wake) const;
  Turn seeList(json::object sigma, const json::array& seen) const;
  Turn readOn(json::object sigma) const;
  Turn seeEntries(json::object sigma, const json::array& seen) const;
  void planOthers(json::object& sigma, const Payloads& entries) const;
  Turn seeAdvice(json::object sigma, const json::array& seen) const;
  Turn act(json::object sigma) const;
  Turn onResults(const json::object& sigma, const json::array& results) const;
};

std::vector<const Agent*> roleAgents();  // described in roles.cpp

}  // namespace witan::domains::disclosure::workers
