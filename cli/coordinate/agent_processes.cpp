#include "cli/coordinate/agent_processes.h"

#include "base/json_codec.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "net/child_process.h"

namespace witan::node {

using namespace kernel::joint;

namespace {

json::value choiceOf(const ScriptEntry& entry) {
  if (entry.exits) return "EXIT";
  if (!entry.request) return nullptr;
  const kernel::joint::Request& r = *entry.request;
  return json::object{{"action_type", enumName(r.type)},
                      {"declared_scope", parseJson(r.scopeText).value()},
                      {"authorities_cited", parseJson(r.citedText).value()},
                      {"proposed_delta", parseJson(r.deltaText).value()}};
}

// The first line that a program reads: who it is, and all that it may do.
std::string greeting(const Setup& setup, AgentIndex agent) {
  json::array agents, choices;
  for (const kernel::joint::AgentSetup& one : setup.agents) agents.push_back(json::string(one.id));
  for (const ScriptEntry& entry : setup.agents[agent].choices) choices.push_back(choiceOf(entry));
  return canonicalJson(json::object{{"agent", setup.agents[agent].id},
                                    {"agents", std::move(agents)},
                                    {"choices", std::move(choices)},
                                    {"condition", setup.condition}}) +
         "\n";
}

// One line an epoch: what the log calls an observation, with the number of the choice in place of the action's id.
std::string observed(const Setup& setup, const kernel::joint::AgentSetup& agent, const Observation& seen) {
  json::object world;
  for (Key key = 0; key < seen.state.size(); ++key)
    if (seen.state[key] != kAbsent) world[setup.keys[key]] = parseJson(setup.values[seen.state[key]]).value();
  json::array messages;
  for (const Message& m : seen.messages)
    messages.push_back(json::object{
        {"content", parseJson(m.content).value()}, {"epoch", m.epoch}, {"sender", setup.agents[m.sender].id}});
  json::value last;
  for (std::size_t i = 0; i < agent.choices.size(); ++i)
    if (seen.lastAction != nullptr && agent.choices[i].request && &*agent.choices[i].request == seen.lastAction)
      last = i;
  return canonicalJson(json::object{
             {"epoch", seen.epoch},
             {"messages", std::move(messages)},
             {"own_last_choice", std::move(last)},
             {"own_last_outcome", seen.lastOutcome ? json::value(enumName(*seen.lastOutcome)) : json::value(nullptr)},
             {"world_state", std::move(world)}}) +
         "\n";
}

Result<Decided> readDecided(std::string_view line, const kernel::joint::AgentSetup& agent) {
  WITAN_TRY(value, parseJson(line, {.bytes = AgentProcesses::kMostLine, .depth = 16}));
  if (!value.is_object()) return wrongJsonType("its answer", "an object", value);
  Decided decided;
  for (const auto& [name, member] : value.get_object()) {
    if (name == "exit" && member.is_bool())
      decided.exits = member.get_bool();
    else if (name == "message" && (member.is_null() || member.is_object()))
      decided.message = member.is_null() ? std::nullopt : std::optional(canonicalJson(member));
    else if (name == "choice" && member.is_null())
      decided.choice.reset();
    else if (name == "choice" && member.is_int64() && member.get_int64() >= 0 &&
             static_cast<std::uint64_t>(member.get_int64()) < agent.choices.size())
      decided.choice = static_cast<std::size_t>(member.get_int64());
    else
      return invalid(
          concat("its answer: ", inQuotes(clip(std::string_view(name))), " is no member or has no such value"),
          concat("an answer is {\"choice\": 0..", agent.choices.size(),
                 " or null, \"message\": an object or null, \"exit\": true or false}"));
  }
  return decided;
}

}  // namespace

// One program.
class AgentProcesses::Agent {
 public:
  Agent(AgentProcesses& all, AgentIndex index) : all_(all), index_(index) {}

  Status start() {
    net::ChildEvents events;
    events.out = [this](std::string_view bytes) { heard_.append(bytes); };
    events.ended = [this](std::string how) { ended_ = std::move(how); };
    WITAN_SET(child_, net::ChildProcess::start(all_.loop_, {.command = all_.command_, .network = false}, events));
    return child_->send(greeting(all_.setup_, index_));
  }

  Decided decide(const Observation& seen) {
    if (child_ == nullptr) return {};
    const kernel::joint::AgentSetup& agent = all_.setup_.agents[index_];
    const Status asked = child_->send(observed(all_.setup_, agent, seen));
    if (!asked.ok()) return stop(asked.error().message);
    const auto done = [this] { return ended_ || heard_.size() > kMostLine || heard_.find('\n') != heard_.npos; };
    if (!all_.loop_.runUntil(done, kAnswerMs)) return stop(concat("no answer within ", kAnswerMs / 1000, " s"));
    const std::size_t end = heard_.find('\n');
    if (end == heard_.npos)
      return stop(ended_ ? "it has ended: " + *ended_ : concat("a line beyond ", kMostLine, " bytes"));
    const auto decided = readDecided(std::string_view(heard_).substr(0, end), agent);
    heard_.erase(0, end + 1);
    if (!decided.ok()) return stop(decided.error().message);
    return *decided;
  }

  Decided stop(const std::string& what) {
    all_.fail(index_, what);
    child_.reset();
    return {};
  }

 private:
  AgentProcesses& all_;
  AgentIndex index_;
  std::string heard_;
  std::optional<std::string> ended_;
  std::unique_ptr<net::ChildProcess> child_;
};

Deciders AgentProcesses::deciders() {
  return [this](AgentIndex index) -> Decider {
    const auto agent = std::make_shared<Agent>(*this, index);
    running_.push_back(agent);
    if (const Status started = agent->start(); !started.ok()) (void)agent->stop(started.error().message);
    return [agent](const Observation& seen) { return agent->decide(seen); };
  };
}

void AgentProcesses::fail(AgentIndex agent, const std::string& what) {
  if (!error_) error_ = Error{ErrorCode::ioFailed, concat("the program of ", setup_.agents[agent].id, ": ", what), ""};
}

}  // namespace witan::node
