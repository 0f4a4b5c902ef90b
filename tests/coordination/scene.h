// Small setups for tests of joint admissibility, as JSON from parts, and their runs.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json.h"
#include "coordination/coordinate.h"

namespace witan::kernel::joint::test {

inline std::string authority(int number, const std::string& commitment, const std::string& holder,
                             const std::string& operation, const std::vector<std::string>& keys) {
  std::string id = std::to_string(number), scope;
  id.insert(0, id.size() < 3 ? 3 - id.size() : 0, '0');
  for (const std::string& key : keys)
    scope += (scope.empty() ? "" : ",") + ("{\"operation\":\"" + operation + "\",\"target\":\"STATE:/" + key + "\"}");
  return "{\"authority_id\":\"CUD-" + id + "\",\"commitment\":\"" + commitment +
         "\",\"created_epoch\":0,\"holder_agent_id\":\"" + holder + "\",\"issuer_agent_id\":\"harness\",\"scope\":[" +
         scope + "],\"status\":\"ACTIVE\"}";
}
inline std::string allow(int number, const std::string& holder, const std::vector<std::string>& keys,
                         const std::string& operation = "WRITE") {
  return authority(number, "ALLOW", holder, operation, keys);
}
inline std::string deny(int number, const std::vector<std::string>& keys, const std::string& operation = "WRITE") {
  return authority(number, "DENY", "harness", operation, keys);
}

inline std::string quotedList(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "\"" : ",\"") + word + "\"";
  return "[" + out + "]";
}
// `delta` is the inside of the object.
inline std::string write(const std::vector<std::string>& scope, const std::string& delta,
                         const std::vector<std::string>& cited) {
  return R"({"action_type":"WRITE","declared_scope":)" + quotedList(scope) + ",\"proposed_delta\":{" + delta +
         "},\"authorities_cited\":" + quotedList(cited) + "}";
}
inline std::string read(const std::vector<std::string>& scope, const std::vector<std::string>& cited) {
  return R"({"action_type":"READ","declared_scope":)" + quotedList(scope) +
         R"(,"proposed_delta":{},"authorities_cited":)" + quotedList(cited) + "}";
}

struct Scene {
  std::string state = R"("A":0,"B":0)";
  std::vector<std::string> authorities;
  std::vector<std::pair<std::string, std::string>> agents;  // id, JSON
  int maxEpochs = 1;
  std::string injection = "null";
  bool communication = false;

  Scene& script(const std::string& id, const std::vector<std::string>& entries, bool repeat = true) {
    std::string list;
    for (const std::string& entry : entries) list += (list.empty() ? "" : ",") + entry;
    agents.emplace_back(
        id, R"({"strategy":"scripted","epochs":[)" + list + "],\"repeat_last\":" + (repeat ? "true}" : "false}"));
    return *this;
  }
  Scene& hashPartition(const std::string& id) {
    agents.emplace_back(id, R"({"strategy":"hash_partition"})");
    return *this;
  }
  Scene& inject(const std::string& name) {
    injection = "\"" + name + "\"";
    return *this;
  }

  std::string text() const {
    std::string artifacts, players;
    for (const std::string& a : authorities) artifacts += (artifacts.empty() ? "" : ",") + a;
    for (const auto& [id, body] : agents) players += (players.empty() ? "\"" : ",\"") + id + "\":" + body;
    return "{\"condition\":\"T\",\"initial_state\":{" + state + "},\"authority_artifacts\":[" + artifacts +
           "],\"communication_enabled\":" + (communication ? "true" : "false") +
           ",\"max_epochs\":" + std::to_string(maxEpochs) + ",\"injection\":" + injection + ",\"agents\":{" + players +
           "}}";
  }
};

// The object that `witan coordinate run` prints.
inline json::object runText(const std::string& text, Verdict* verdict = nullptr) {
  const auto setup = readSetup(text);
  EXPECT_TRUE(setup.ok()) << setup.error().message << "\n" << text;
  if (!setup.ok()) return {};
  std::string log;
  Verdict given = coordinate(*setup, [&](std::string_view piece) { log += piece; });
  if (verdict != nullptr) *verdict = std::move(given);
  const auto value = parseJson(log, {.bytes = log.size()});
  EXPECT_TRUE(value.ok());
  EXPECT_EQ(canonicalJson(*value), log) << "the log is canonical";
  return value->get_object();
}
inline json::object runScene(const Scene& scene, Verdict* verdict = nullptr) { return runText(scene.text(), verdict); }

inline std::string outcome(const json::object& log, std::size_t epoch, const std::string& id) {
  const json::object& outcomes = log.at("epochs").as_array().at(epoch).at("outcomes").as_object();
  return outcomes.contains(id) ? std::string(outcomes.at(id).as_string()) : "none";
}
inline std::string word(const json::object& log, const char* name) {
  const json::value& value = log.at(name);
  return value.is_null() ? "null" : std::string(value.as_string());
}
inline std::string terminal(const json::object& log) { return word(log, "terminal_classification"); }
inline std::string kernelClass(const json::object& log) { return word(log, "kernel_classification"); }
inline std::size_t epochs(const json::object& log) { return log.at("epochs").as_array().size(); }
inline std::string finalState(const json::object& log) { return canonicalJson(log.at("final_state")); }

inline constexpr const char* kRefused = "JOINT_ADMISSIBILITY_FAILURE";
inline constexpr const char* kFault = "ACTION_FAULT";
inline constexpr const char* kExecuted = "EXECUTED";

}  // namespace witan::kernel::joint::test
