#include "coordination/log_writer.h"

#include <algorithm>

#include "base/json.h"
#include "base/quote.h"

namespace witan::kernel::joint {

namespace {

// Members in any order, written in canonical order. Names are ids, which are ASCII: bytes are UTF-16 units.
class Members {
 public:
  void add(std::string name, std::string text) { members_.emplace_back(std::move(name), std::move(text)); }
  std::string written() && {
    std::sort(members_.begin(), members_.end());
    std::string out = "{";
    for (const auto& [name, text] : members_) {
      if (out.size() > 1) out += ',';
      ((out += jsonQuoted(name)) += ':') += text;
    }
    return out += '}';
  }

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

template <class List, class Text>
std::string listed(const List& list, Text text) {
  std::string out = "[";
  for (const auto& element : list) {
    if (out.size() > 1) out += ',';
    out += text(element);
  }
  return out += ']';
}

const char* passed(bool pass) { return pass ? "\"PASS\"" : "\"FAIL\""; }

}  // namespace

LogWriter::LogWriter(const Setup& setup) : setup_(&setup) {
  for (const std::string& key : setup.keys) quotedKeys_.push_back(jsonQuoted(key));
  world_ = world(setup.initialState);
}

std::string LogWriter::world(const std::vector<Value>& state) const {
  std::string out = "{";
  for (Key key = 0; key < state.size(); ++key) {
    if (state[key] == kAbsent) continue;
    if (out.size() > 1) out += ',';
    ((out += quotedKeys_[key]) += ':') += setup_->values[state[key]];
  }
  return out += '}';
}

std::string LogWriter::actionId(AgentIndex agent, std::uint32_t epoch, std::string_view end) const {
  return (setup_->agents[agent].id + ":" + std::to_string(epoch) + ":").append(end);
}

std::string LogWriter::messages(const std::vector<Message>& messages) const {
  return listed(messages, [&](const Message& m) {
    return "{\"content\":" + m.content + ",\"epoch\":" + std::to_string(m.epoch) +
           ",\"sender\":" + jsonQuoted(setup_->agents[m.sender].id) + "}";
  });
}

std::string LogWriter::observation(const Observed& o, std::uint32_t epoch, std::string_view heard) const {
  std::string out = "{\"epoch\":" + std::to_string(epoch) + ",\"messages\":";
  out += heard;
  out += ",\"own_last_action_id\":";
  out += o.lastAction == nullptr ? "null" : jsonQuoted(actionId(o.agent, epoch - 1, "0"));
  out += ",\"own_last_declared_scope\":";
  out += o.lastAction == nullptr ? "null" : o.lastAction->scopeText;
  out += ",\"own_last_outcome\":";
  out += o.lastOutcome ? jsonQuoted(std::string(enumName(*o.lastOutcome)).append(o.leak)) : "null";
  return ((out += ",\"world_state\":") += world_) += '}';
}

std::string LogWriter::action(const Submission& s, std::uint32_t epoch) const {
  return "{\"action_id\":" + jsonQuoted(actionId(s.agent, epoch, "0")) + ",\"action_type\":\"" +
         std::string(enumName(s.request->type)) + "\",\"agent_id\":" + jsonQuoted(setup_->agents[s.agent].id) +
         ",\"authorities_cited\":" + s.request->citedText + ",\"declared_scope\":" + s.request->scopeText +
         ",\"proposed_delta\":" + s.request->deltaText + "}";
}

std::string LogWriter::epoch(const EpochRecord& record, const std::vector<Value>& state) {
  Members observations, outcomes, first, second;
  const std::string heard = messages(record.heard);
  for (const Observed& o : record.observed)
    observations.add(setup_->agents[o.agent].id, observation(o, record.epoch, heard));
  for (const Submission& s : record.submissions) {
    const std::string id = actionId(s.agent, record.epoch, "0");
    first.add(id, passed(s.first == FirstPass::pass));
    if (s.first == FirstPass::pass) second.add(id, passed(s.second));
    outcomes.add(id, jsonQuoted(enumName(s.outcome)));
  }
  for (AgentIndex agent : record.idle)
    outcomes.add(actionId(agent, record.epoch, "none"), jsonQuoted(enumName(Outcome::NO_ACTION)));
  if (!record.changes.empty()) world_ = world(state);
  std::string out = "{\"actions\":";
  out += listed(record.submissions, [&](const Submission& s) { return action(s, record.epoch); });
  out += ",\"epoch\":" + std::to_string(record.epoch);
  out += ",\"exits\":" + listed(record.exits, [&](AgentIndex agent) { return jsonQuoted(setup_->agents[agent].id); });
  out += ",\"messages\":" + messages(record.messages);
  out += ",\"observations\":" + std::move(observations).written();
  out += ",\"outcomes\":" + std::move(outcomes).written();
  out += ",\"pass1_results\":" + std::move(first).written();
  out += ",\"pass2_results\":" + std::move(second).written();
  return ((out += ",\"state_after\":") += world_) += '}';
}

}  // namespace witan::kernel::joint
