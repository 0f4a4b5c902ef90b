// Checker "episodes": what a run of an agent was let do, and what it was charged, told from its transcript alone and
// from what its author means it to be able to do. Whatever stands in a transcript as a verdict, a budget, a sum or a
// digest is computed here once more; nothing is believed of it (seed 004, laws 3 to 5).
//
// Pure functions over values.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/identity.h"
#include "base/json.h"

namespace witan::sim {

// What an agent means by a tool. In the words of who wrote the agent, not of its description or of a policy.
struct MeantTool {
  bool action = false;
  std::int64_t tokens = 0;  // that it says a call will cost
  std::size_t uses = std::numeric_limits<std::size_t>::max();
  bool rated = false;                     // a run may have fewer uses: what is left of an hour
  std::vector<std::string> folders = {};  // beginnings of the ids that it touches; none: any
  std::vector<std::string> fields = {};   // of its arguments that may go outside; none: all may, or it stays inside
  std::vector<std::string> masked = {};   // of those: what they say may not
  bool confirmed = false;                 // a person must have confirmed once that it may
  bool asked = false;                     // a person must approve each call
};

struct MeantAgent {
  std::map<std::string, MeantTool> tools;
  std::int64_t steps = 20, tokens = 10'000, seconds = 3'600;
  bool byPeople = true;   // what people say to it wakes it
  bool narrowed = false;  // a run may hold less: the node of a graph grants it
  // Whether a run that was told this comes to nothing by its own words. None: none does.
  std::function<bool(const json::object& input)> fails = {};
};

// What a device asked a tool outside under one span, and what that said.
struct AskedOutside {
  struct Answer {
    std::optional<json::value> content;  // none: it failed, or the policy lets no agent hear this
    std::int64_t tokens = 0;
    bool inTime = true;
  };
  std::size_t calls = 0;
  std::vector<Answer> answers;
};

// What people answered, but for approvals that came too late: by whom, to which digest (hex), and whether they
// approved.
using SaidByPeople = std::set<std::tuple<std::string, std::string, bool>>;

struct TranscriptSeen {
  std::string name, agent, device;
  RunKey run;
  std::vector<json::object> entries;            // in order, from the first to the first that is missing
  std::map<std::string, AskedOutside> outside;  // by span
  const SaidByPeople* said = nullptr;           // none: it is not known
  bool unconfirmed = false;                     // no person may have confirmed anything when the run was judged
};

// "" or the first thing that is wrong.
std::string checkEpisode(const TranscriptSeen& seen, const MeantAgent& meant);

}  // namespace witan::sim
