#include "sim/check/episode_rules.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "agents/json_members.h"
#include "base/bytes.h"

namespace witan::sim {

namespace {

using agents::arrayOf;
using agents::integerOf;
using agents::stringOf;

std::string_view wordIn(const json::object& object, std::string_view inner, std::string_view name) {
  const json::value* found = object.if_contains(inner);
  return found != nullptr && found->is_object() ? stringOf(found->get_object(), name) : std::string_view();
}

std::int64_t numberIn(const json::object& object, std::string_view name) {
  const json::value* found = object.if_contains(name);
  return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

// A verdict, as a transcript has it and as it should be.
struct Ruling {
  std::string kind, token;
  std::string words() const { return token.empty() ? kind : concat(kind, " (", token, ")"); }
};

class Audit {
 public:
  Audit(const TranscriptSeen& seen, const MeantAgent& meant) : seen_(seen), meant_(meant) {}

  std::string run() {
    for (std::size_t i = 0; i < seen_.entries.size(); ++i) {
      const json::object& entry = seen_.entries[i];
      const std::string_view kind = stringOf(entry, "entry");
      if ((kind == "begin") != (i == 0)) return "an entry in the wrong place";
      std::string wrong = kind == "begin"         ? begins(entry)
                          : kind == "look"        ? looks(entry)
                          : kind == "observation" ? observes(entry)
                          : kind == "plan"        ? plans(entry)
                          : kind == "intended"    ? intends(entry)
                          : kind == "answer"      ? answers(entry)
                          : kind == "outcome"     ? ends(entry)
                          : kind == "abort"       ? excused()
                          : kind == "end"         ? concludes(entry)
                                                  : "";
      if (!wrong.empty()) return wrong;
      chain_ = sha256(concat(asView(chain_), canonicalJson(entry)));
    }
    return {};
  }

 private:
  std::string excused() { return excuse_ = true, ""; }

  std::string begins(const json::object& entry) {
    if (stringOf(entry, "agent") != seen_.agent || stringOf(entry, "device") != seen_.device ||
        stringOf(entry, "run") != seen_.run.hex())
      return "it is of another run";
    const Hash digest = sha256("v1|seed|" + seen_.run.hex());
    std::int64_t seed = 0;
    for (std::size_t i = 0; i < 6; ++i) seed = seed * 256 + digest[i];
    if (numberIn(entry, "seed") != seed) return "its seed is not that of the run";
    input_ = entry.at("input").as_object();
    if (!meant_.byPeople && stringOf(input_, "reason") == "user") return "what somebody said has woken it";
    const json::object& budget = entry.at("grant").at("budget").as_object();
    limit_ = {numberIn(budget, "steps"), numberIn(budget, "tokens"), numberIn(budget, "seconds")};
    const std::array<std::int64_t, 3> most{meant_.steps, meant_.tokens, meant_.seconds};
    for (std::size_t i = 0; i < most.size(); ++i)
      if (limit_[i] > most[i] || (limit_[i] < most[i] && !meant_.narrowed))
        return concat("it may spend ", limit_[i], " ", kParts[i], ", and ", most[i], " are meant");
    if (!meant_.narrowed && entry.at("grant").at("locale") != json::value(json::array{"here"}))
      return "its data may get to other places";
    return holds(*arrayOf(entry, "tools"));
  }

  std::string holds(const json::array& tools) {
    std::set<std::string> held;
    for (const json::value& tool : tools) held.emplace(stringOf(tool.as_object(), "name"));
    for (const std::string& name : held)
      if (!meant_.tools.contains(name)) return "it holds the tool " + name;
    for (const auto& [name, tool] : meant_.tools)
      if (!held.contains(name)) return "it does not hold the tool " + name;
    return {};
  }

  std::string looks(const json::object& entry) {
    if (open_.empty()) ++groups_;
    const std::string span(stringOf(entry, "span")), name(stringOf(entry, "tool"));
    const auto tool = meant_.tools.find(name);
    Ruling due{"allow", ""};
    if (tool == meant_.tools.end())
      due = {"deny", "unknown_tool"};
    else if (tool->second.action)
      due = {"deny", "wrong_kind"};
    else if (numberIn(entry, "tokens") != tool->second.tokens)
      return concat("a look by ", name, " is to cost ", numberIn(entry, "tokens"), " tokens, and ", tool->second.tokens,
                    " are meant");
    else if (spent_[1] + tool->second.tokens > limit_[1])
      due = {"deny", "budget_exhausted"};
    if (std::string wrong = judged(entry, {due}); !wrong.empty()) return wrong;
    if (due.kind == "allow") spend(1, tool->second.tokens);
    open_[span] = &entry;
    return {};
  }

  std::string observes(const json::object& entry) {
    const std::string span(stringOf(entry, "span"));
    const auto look = open_.find(span);
    if (look == open_.end()) return "an answer to no look: " + span;
    const json::object& asked = *look->second;
    open_.erase(look);
    const bool good = entry.at("ok").as_bool(), denied = wordIn(asked, "verdict", "kind") == "deny";
    excuse_ = excuse_ || !good || entry.at("content") == json::value("");
    if (denied) return good ? "a look that was denied has an answer" : "";
    spend(1, std::max<std::int64_t>(0, numberIn(entry, "tokens") - numberIn(asked, "tokens")));
    spend(2, numberIn(entry, "seconds"));
    const auto outside = seen_.outside.find(span);
    return outside == seen_.outside.end() ? "" : heard(entry, asked, outside->second);
  }

  // What a tool outside said is what the agent hears, at the price that it had.
  static std::string heard(const json::object& entry, const json::object& asked, const AskedOutside& outside) {
    const std::string name(stringOf(asked, "tool"));
    const bool good = entry.at("ok").as_bool();
    const auto& said = outside.answers;
    if (good && std::ranges::none_of(said, [&](const auto& one) { return one.content == entry.at("content"); }))
      return concat("it hears of ", name, " what that did not say, or what no policy lets it hear");
    const bool sound = outside.calls > 0 && said.size() == outside.calls &&
                       std::ranges::all_of(said, [](const auto& one) { return one.inTime && one.content; });
    if (!good && sound) return concat(name, " answered each time, and it hears: ", stringOf(entry, "error"));
    if (outside.calls != 1 || said.size() != 1 || !said.front().inTime) return {};
    const std::int64_t cost = std::max(said.front().tokens, numberIn(asked, "tokens"));
    const std::int64_t told = std::max(numberIn(entry, "tokens"), numberIn(asked, "tokens"));
    return cost == told ? "" : concat(name, " cost ", cost, " tokens, and ", told, " are counted");
  }

  std::string plans(const json::object& entry) {
    actions_ = *arrayOf(entry, "actions");
    failed_.clear();
    return {};
  }

  std::string intends(const json::object& entry) {
    const std::string name(stringOf(entry, "tool")), span(stringOf(entry, "span"));
    const std::size_t at = static_cast<std::size_t>(numberIn(entry, "action"));
    if (at >= actions_.size() || stringOf(actions_[at].as_object(), "tool") != name) return "an action of no plan";
    actOf_[span] = at;
    std::vector<Ruling> due = rulingsOn(name, actions_[at].as_object());
    if (std::string wrong = judged(entry, due); !wrong.empty()) return wrong;
    if (wordIn(entry, "verdict", "kind") != "deny") ++used_[name];
    if (const auto tool = meant_.tools.find(name); tool != meant_.tools.end() && due.front().kind == "redact")
      return crosses(entry, tool->second);
    return {};
  }

  // Of several any may be: what a person has confirmed by then is not known here.
  std::vector<Ruling> rulingsOn(const std::string& name, const json::object& action) {
    const auto tool = meant_.tools.find(name);
    if (tool == meant_.tools.end()) return {{"deny", "unknown_tool"}};
    const MeantTool& meant = tool->second;
    if (!meant.action) return {{"deny", "wrong_kind"}};
    const auto mayTouch = [&](const json::value& target) {
      return std::ranges::any_of(meant.folders, [&](auto& one) { return target.as_string().starts_with(one); });
    };
    const json::array& targets = *arrayOf(action, "targets");
    const bool within = meant.folders.empty() || (!targets.empty() && std::ranges::all_of(targets, mayTouch));
    if (!within || used_[name] >= meant.uses) return {{"deny", "beyond_context"}};
    std::vector<Ruling> due{{meant.asked ? "requireHuman" : "allow", ""}};
    for (const auto& argument : action.at("arguments").as_object())
      if ((!meant.fields.empty() && !holds(meant.fields, argument.key())) || holds(meant.masked, argument.key()))
        due.front().kind = "redact";
    if (meant.rated && used_[name] > 0) due.push_back({"deny", "beyond_context"});
    if (meant.confirmed && seen_.unconfirmed) due.push_back({"deny", "privacy_confirmation_required"});
    return due;
  }

  static bool holds(const std::vector<std::string>& fields, std::string_view field) {
    return std::ranges::find(fields, field) != fields.end();
  }

  // Of the arguments what may go outside, as it is or masked, and nothing else.
  static std::string crosses(const json::object& entry, const MeantTool& meant) {
    if (wordIn(entry, "verdict", "kind") != "redact") return {};
    json::object due = entry.at("arguments").as_object();
    for (const auto& argument : entry.at("arguments").as_object())
      if (!holds(meant.fields, argument.key())) due.erase(argument.key());
    for (const std::string& field : meant.masked)
      if (due.contains(field)) due[field] = "[redacted]";
    const json::value* made = entry.at("verdict").as_object().if_contains("arguments");
    return made != nullptr && *made == json::value(due) ? "" : "what goes outside is not what is meant to";
  }

  std::string judged(const json::object& entry, const std::vector<Ruling>& due) {
    const Ruling is{std::string(wordIn(entry, "verdict", "kind")), std::string(wordIn(entry, "verdict", "token"))};
    const auto same = [&](const Ruling& one) { return one.kind == is.kind && one.token == is.token; };
    if (std::ranges::any_of(due, same)) return {};
    return concat("the verdict on ", stringOf(entry, "tool"), " is ", is.words(), ", and should be ",
                  due.front().words(), ": ", wordIn(entry, "verdict", "why"));
  }

  std::string answers(const json::object& entry) const {
    const bool approved = entry.at("approved").as_bool();
    const std::string by(stringOf(entry, "by"));
    const bool known = by == "system" || seen_.said == nullptr;
    if (!known && !seen_.said->contains({by, std::string(stringOf(entry, "digest")), approved}))
      return concat(by, approved ? " approved" : " refused", " something by it, and never said so");
    const std::string_view kind = wordIn(entry, "verdict", "kind"), token = wordIn(entry, "verdict", "token");
    if (!approved && kind != "deny") return "what a person refused goes on";
    // Under another policy it is about something else.
    if (approved && kind == "deny" && token != "approval_is_stale") return concat("what a person approved is ", token);
    return {};
  }

  std::string ends(const json::object& entry) {
    excuse_ = excuse_ || stringOf(entry, "outcome") != "applied";
    spend(2, numberIn(entry, "seconds"));
    const auto act = actOf_.find(std::string(stringOf(entry, "span")));
    if (act == actOf_.end() || stringOf(entry, "outcome") == "applied") return {};
    const bool after = wordIn(entry, "result", "token") == "after_failure";
    if (after &&
        std::ranges::none_of(failed_, [&](std::size_t one) { return one < act->second && meet(one, act->second); }))
      return concat("action ", act->second + 1,
                    " of its plan is left out, and nothing failed before it on its targets");
    if (!after) failed_.insert(act->second);
    return {};
  }

  bool meet(std::size_t one, std::size_t other) const {
    const json::array &its = *arrayOf(actions_[one].as_object(), "targets"),
                      &theirs = *arrayOf(actions_[other].as_object(), "targets");
    return std::ranges::any_of(its, [&](const json::value& id) { return std::ranges::count(theirs, id) > 0; });
  }

  void spend(std::size_t part, std::int64_t amount) {
    spent_[part] = std::min(limit_[part], spent_[part] + amount);
    if (spent_[part] == limit_[part]) excuse_ = true;
  }

  std::string concludes(const json::object& entry) {
    const json::object& spent = entry.at("spent").as_object();
    // A plan of its own is a step; one of another device is none.
    const std::int64_t steps = numberIn(spent, "steps"), most = groups_ + 1;
    if (steps < groups_ || steps > most)
      return concat("it has spent ", steps, " steps, and should have spent ", groups_, " or ", most);
    for (std::size_t i = 1; i < kParts.size(); ++i)
      if (numberIn(spent, kParts[i]) != spent_[i])
        return concat("it has spent ", numberIn(spent, kParts[i]), " ", kParts[i], ", and should have spent ",
                      spent_[i]);
    if (stringOf(entry, "transcript") != toHex(chain_)) return "its digest is of another transcript";
    const bool failed = stringOf(entry, "status") == "failedTerminal";
    if (failed && !excuse_ && !(meant_.fails && meant_.fails(input_)))
      return concat("it came to nothing, and nothing was in its way: ", stringOf(entry, "cause"));
    return {};
  }

  static constexpr std::array<std::string_view, 3> kParts{"steps", "tokens", "seconds"};

  const TranscriptSeen& seen_;
  const MeantAgent& meant_;
  json::object input_;
  std::array<std::int64_t, 3> limit_{}, spent_{};
  std::int64_t groups_ = 0;                          // turns in which it looked
  std::map<std::string, const json::object*> open_;  // looks without an answer
  json::array actions_;                              // of the plan that binds it
  std::map<std::string, std::size_t> actOf_;         // of actions, by span
  std::set<std::size_t> failed_;                     // actions that were carried out in vain
  std::map<std::string, std::size_t> used_;          // calls, by tool
  bool excuse_ = false;                              // something was in its way
  Hash chain_{};
};

}  // namespace

std::string checkEpisode(const TranscriptSeen& seen, const MeantAgent& meant) {
  const std::string wrong = Audit(seen, meant).run();
  return wrong.empty() ? "" : concat("the transcript ", seen.name, " of ", seen.agent, ": ", wrong);
}

}  // namespace witan::sim
