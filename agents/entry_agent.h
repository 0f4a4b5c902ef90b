// EntryAgent: an agent that journal entries of one type wake. It reads what changed, what else its author asks for,
// plans, and says in the end what became of it. The author of such an agent writes its spec and `plan`.
//
// Pure, as agents/agent.h wants it: all that it knows between two calls stands in sigma.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"
#include "agents/json_members.h"
#include "base/result.h"

namespace witan::agents {

struct Entry {
  std::string id;
  std::string type;
  json::object payload;
};
using Entries = std::map<std::string, Entry, std::less<>>;  // by id

class EntryAgent : public Agent {
 public:
  Turn step(const json::value& sigma, const Input& input) const final;

 protected:
  // Whether an entry that changed is one for this agent.
  virtual bool concerns(const Entry& entry) const = 0;
  // Ids of entries that `plan` needs besides.
  virtual std::vector<std::string> alsoReads(const Entry&) const { return {}; }
  // The actions for one entry. Errors: it cannot be used, and why; the others are planned all the same.
  virtual Result<Actions> plan(const Entry& entry, const Entries& others) const = 0;

 private:
  Turn onWake(const json::object& wake) const;
  Turn onObservation(json::object sigma, const json::array& seen) const;
  Turn onResults(const json::object& sigma, const json::array& results) const;
  Turn planAll(const Entries& entries, json::object sigma) const;
};

// --- for authors

// Wakes on entries of this type.
SubscriptionSpec onEntries(std::string_view type);
// A mutating action with its arguments in canonical form.
replication::PlanAction action(std::string_view tool, const json::object& arguments, std::vector<std::string> targets);
// To the meta-agent of `entity`.
replication::PlanAction proposal(std::string_view domain, std::string_view entity, std::string_view role,
                                 json::object action);
// Whether an action's result says that it failed. One that waits for a counselor or a person has not.
bool hasFailed(const json::object& result);
// The turns of an agent that does not settle conflicts itself: what readers see stands.
Turn keepShown(const Input& input);
// The end of a run: what became of each action, and what was left alone and why. Failed if one of these there is, or if
// an action failed.
Finish reportOf(const json::array& results, std::span<const std::string> leftAlone);
// `text`, with what an id may not contain replaced by '-', and cut to what is left of an id's length.
std::string idPart(std::string_view text);

}  // namespace witan::agents
