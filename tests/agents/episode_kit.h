// What tests of episodes share: scripted agents, and an episode over the toys.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "agents/episode/episode.h"
#include "agents/episode/replay.h"
#include "lab/conformance/laws.h"
#include "lab/conformance/toy.h"

namespace witan::agents::episode {

using namespace conformance;
using replication::OperationOutcome;
using replication::PlanBody;
using replication::WakeStatus;

// Answers with the turn that stands for the number of its call; after the last it is done.
class ScriptAgent final : public Agent {
 public:
  explicit ScriptAgent(std::vector<Turn> script) : script_(std::move(script)) {
    spec_.id = "script";
    spec_.version = "1";
    spec_.category = "toys";
    spec_.capabilities = {{"look.*"}, {"act.*"}};
    spec_.locale = {"us"};
  }
  const AgentSpec& spec() const override { return spec_; }
  AgentSpec& edit() { return spec_; }
  Turn step(const json::value& sigma, const Input& input) const override {
    const std::int64_t at = sigma.is_null() ? 0 : sigma.as_int64();
    told.push_back(input);
    Turn turn = static_cast<std::size_t>(at) < script_.size() ? script_[static_cast<std::size_t>(at)]
                                                              : Turn{nullptr, {}, Finish{"done", {}, {}, {}, false}};
    turn.sigma = at + 1;
    return turn;
  }
  mutable std::vector<Input> told;  // for the tests to look at; it decides nothing

 private:
  std::vector<Turn> script_;
  AgentSpec spec_;
};

inline Turn looking(Looks looks) { return {nullptr, {}, std::move(looks)}; }
inline Turn planning(Actions actions) { return {nullptr, {}, std::move(actions)}; }
inline replication::PlanAction put(const std::string& id, int n = 0) {
  return {"act.put", canonicalJson(json::object{{"id", id}, {"n", n}}), {}, {id}};
}

inline Beginning beginningFor(const Agent& agent) {
  auto beginning = beginningOf(agent.spec(), toyTools(), toyRun(1), "d1", {{"reason", "user"}});
  EXPECT_TRUE(beginning.ok()) << (beginning.ok() ? "" : beginning.error().message);
  return *std::move(beginning);
}

inline Episode begun(const Agent& agent, const Gate& gate) {
  auto episode = Episode::begin(agent, gate, beginningFor(agent));
  EXPECT_TRUE(episode.ok()) << (episode.ok() ? "" : episode.error().message);
  return *std::move(episode);
}

// All entries so far are written and on the disk.
inline void settle(Episode& episode) {
  std::uint64_t first = 0;
  (void)episode.takeEntries(first);
  episode.durable(episode.entries().size());
}

inline std::vector<std::string> contentsOf(const Episode& episode) {
  std::vector<std::string> out;
  for (const Entry& entry : episode.entries()) out.push_back(entry.content);
  return out;
}

inline std::size_t countOf(const Episode& episode, EntryKind kind) {
  std::size_t count = 0;
  for (const Entry& entry : episode.entries()) count += entry.kind == kind ? 1 : 0;
  return count;
}

inline const Entry& lastOf(const Episode& episode, EntryKind kind) {
  const Entry* found = nullptr;
  for (const Entry& entry : episode.entries())
    if (entry.kind == kind) found = &entry;
  WITAN_CHECK(found != nullptr, "the test expects an entry of this kind");
  return *found;
}

inline std::string tokenOf(const Entry& entry) {
  const json::value* token = entry.body.at("verdict").get_object().if_contains("token");
  return token == nullptr ? "" : std::string(token->get_string());
}

}  // namespace witan::agents::episode
