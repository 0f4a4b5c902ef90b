// Laws of joint admissibility on drawn scenes: no order, no name and no pass is seen in what comes of a run.
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "tests/coordination/scene.h"

namespace witan::kernel::joint::property_test {
namespace {

using namespace test;

// A scene before names are given: agents and keys are numbers, so that it can be told in any names and any order.
struct Drawn {
  struct Act {
    int kind = 0;  // 0 nothing, 1 leave, 2 read, 3 write
    std::vector<int> scope, delta;
    std::vector<int> cited;
  };
  struct Artifact {
    int holder = 0;
    bool allows = true, reads = false;
    std::vector<int> keys;
  };
  int keys = 1, maxEpochs = 1;
  std::vector<Artifact> artifacts;
  std::vector<std::vector<Act>> scripts;
};

std::vector<int> someOf(int n) {
  std::vector<int> chosen;
  for (int i = 0; i < n; ++i)
    if (*rc::gen::inRange(0, 3) == 0) chosen.push_back(i);
  if (chosen.empty()) chosen.push_back(*rc::gen::inRange(0, n));
  return chosen;
}

Drawn draw() {
  Drawn d;
  const int agents = *rc::gen::inRange(1, 6);
  d.keys = *rc::gen::inRange(1, 4);
  d.maxEpochs = *rc::gen::inRange(1, 6);
  for (int agent = 0; agent < agents; ++agent)
    if (*rc::gen::inRange(0, 5) != 0) d.artifacts.push_back({agent, true, false, someOf(d.keys)});
  for (int i = 0, n = *rc::gen::inRange(0, 4); i < n; ++i)
    d.artifacts.push_back(
        {*rc::gen::inRange(0, agents), *rc::gen::inRange(0, 3) != 0, *rc::gen::inRange(0, 2) == 0, someOf(d.keys)});
  for (int agent = 0; agent < agents; ++agent) {
    auto& script = d.scripts.emplace_back();
    for (int i = 0, n = *rc::gen::inRange(1, 4); i < n; ++i) {
      Drawn::Act act;
      const int kind = *rc::gen::inRange(0, 12);
      act.kind = kind == 0 ? 1 : kind < 3 ? 0 : kind < 5 ? 2 : 3;
      act.scope = someOf(d.keys);
      for (const auto& a : d.artifacts)  // mostly what it may do
        if (a.holder == agent && a.allows && a.reads == (act.kind == 2) && *rc::gen::inRange(0, 4) != 0)
          act.scope = a.keys;
      act.delta = *rc::gen::inRange(0, 5) == 0 ? someOf(d.keys) : act.scope;
      for (int a = 0; a < static_cast<int>(d.artifacts.size()); ++a)
        if (d.artifacts[a].holder == agent || *rc::gen::inRange(0, 12) == 0) act.cited.push_back(a);
      script.push_back(act);
    }
  }
  return d;
}

using Renaming = std::vector<std::string>;

std::vector<std::string> named(const std::vector<int>& numbers, const Renaming& names) {
  std::vector<std::string> words;
  for (int n : numbers) words.push_back(names[n]);
  return words;
}

std::string entry(const Drawn::Act& act, int agent, const Renaming& keys) {
  if (act.kind == 0) return "null";
  if (act.kind == 1) return "\"EXIT\"";
  std::vector<std::string> cited;
  for (int a : act.cited) cited.push_back("CUD-" + std::string(a + 1 < 10 ? "00" : "0") + std::to_string(a + 1));
  const auto scope = named(act.scope, keys);
  if (act.kind == 2) return read(scope, cited);
  std::string delta;
  for (int key : act.delta) delta += (delta.empty() ? "\"" : ",\"") + keys[key] + "\":" + std::to_string(agent % 3);
  return write(scope, delta, cited);
}

Scene told(const Drawn& d, const Renaming& agents, const Renaming& keys, const std::vector<int>& order) {
  Scene scene;
  scene.state.clear();
  for (int key = 0; key < d.keys; ++key) scene.state += (key == 0 ? "\"" : ",\"") + keys[key] + "\":0";
  scene.maxEpochs = d.maxEpochs;
  for (std::size_t i = 0; i < d.artifacts.size(); ++i) {
    const auto& a = d.artifacts[i];
    scene.authorities.push_back(authority(static_cast<int>(i) + 1, a.allows ? "ALLOW" : "DENY", agents[a.holder],
                                          a.reads ? "READ" : "WRITE", named(a.keys, keys)));
  }
  for (int agent : order) {
    std::vector<std::string> entries;
    for (const auto& act : d.scripts[agent]) entries.push_back(entry(act, agent, keys));
    scene.script(agents[agent], entries);
  }
  return scene;
}

std::vector<int> inOrder(const Drawn& d) {
  std::vector<int> order;
  for (int i = 0; i < static_cast<int>(d.scripts.size()); ++i) order.push_back(i);
  return order;
}
const Renaming kAgents{"a0", "a1", "a2", "a3", "a4"}, kKeys{"k0", "k1", "k2"};

std::vector<int> shuffled(std::vector<int> list) {
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[*rc::gen::inRange<std::size_t>(0, i)]);
  return list;
}

// The kernel and the auditors are two readings of the rules: they agree on whatever is drawn.
RC_GTEST_PROP(JointProperty, TheAuditorsFindNothingInALawfulRun, ()) {
  const Drawn d = draw();
  Verdict verdict;
  const auto log = runScene(told(d, kAgents, kKeys, inOrder(d)), &verdict);
  RC_ASSERT(kernelClass(log) == "null");
  RC_ASSERT(verdict.findings.empty());
  RC_TAG(terminal(log));
}

// Whatever a faulty kernel did is found, and what had no occasion is not. (audit_test.cpp has each class by name: on
// drawn scenes one fault can show as another, as a stray action that is made to wait.)
RC_GTEST_PROP(JointProperty, F20_AFaultIsFoundOrHadNoOccasion, ()) {
  const Drawn d = draw();
  Scene scene = told(d, kAgents, kKeys, inOrder(d));
  const json::object lawful = runScene(scene);
  for (std::size_t i = 1; i < enumNames<Injection>().size(); ++i) {
    const json::object faulty = runScene(scene.inject(std::string(enumNames<Injection>()[i])));
    const bool same = faulty.at("epochs") == lawful.at("epochs") && terminal(faulty) == terminal(lawful);
    RC_ASSERT((kernelClass(faulty) == "null") == same);
  }
}

// A1: the order in which agents stand in the file, and so are asked, is not seen in a byte.
RC_GTEST_PROP(JointProperty, NoOrderOfSubmission, ()) {
  const Drawn d = draw();
  const auto once = runScene(told(d, kAgents, kKeys, inOrder(d)));
  const auto again = runScene(told(d, kAgents, kKeys, shuffled(inOrder(d))));
  RC_ASSERT(canonicalJson(once) == canonicalJson(again));
}

// FQ19: names decide nothing. Renamed agents get each what they would have got, and the world is the same.
RC_GTEST_PROP(JointProperty, RenamingAgentsRenamesTheOutcomes, ()) {
  const Drawn d = draw();
  Renaming other;
  for (int i : shuffled({0, 1, 2, 3, 4})) other.push_back(kAgents[static_cast<std::size_t>(i)]);
  const auto once = runScene(told(d, kAgents, kKeys, inOrder(d)));
  const auto again = runScene(told(d, other, kKeys, inOrder(d)));
  RC_ASSERT(terminal(once) == terminal(again));
  RC_ASSERT(finalState(once) == finalState(again));
  RC_ASSERT(epochs(once) == epochs(again));
  for (std::size_t epoch = 0; epoch < epochs(once); ++epoch)
    for (std::size_t agent = 0; agent < d.scripts.size(); ++agent)
      for (const char* end : {"0", "none"}) {
        const std::string place = ":" + std::to_string(epoch) + ":" + end;
        RC_ASSERT(outcome(once, epoch, kAgents[agent] + place) == outcome(again, epoch, other[agent] + place));
      }
}

// FQ11: what an agent sees after a refusal is the same to the byte, whichever pass it was.
RC_GTEST_PROP(JointProperty, FQ11_ThePassesAreIndistinguishable, ()) {
  const std::string own = write({"A"}, R"("A":1)", {"CUD-001"});
  const int rounds = *rc::gen::inRange(1, 3);
  Scene collides, vetoed;
  collides.authorities = {allow(1, "a", {"A"}), allow(2, "b", {"A"})};
  vetoed.authorities = {allow(1, "a", {"A"}), deny(2, {"A"})};
  collides.maxEpochs = vetoed.maxEpochs = rounds + 1;
  collides.script("a", {own}).script("b", {write({"A"}, R"("A":2)", {"CUD-002"})});
  vetoed.script("a", {own}).script("b", {"null"});
  const auto first = runScene(collides), second = runScene(vetoed);
  for (int epoch = 0; epoch <= rounds; ++epoch) {
    const auto seen = [&](const json::object& log) {
      return canonicalJson(log.at("epochs").at(static_cast<std::size_t>(epoch)).at("observations").at("a"));
    };
    RC_ASSERT(seen(first) == seen(second));
  }
}

// D13: of what executes in one epoch, no two touch a key that one of them writes.
RC_GTEST_PROP(JointProperty, WhatExecutesTogetherIsDisjoint, ()) {
  const Drawn d = draw();
  const auto log = runScene(told(d, kAgents, kKeys, inOrder(d)));
  for (const json::value& epoch : log.at("epochs").as_array()) {
    std::map<std::string, std::pair<int, int>> touched;  // reads, writes
    for (const json::value& action : epoch.at("actions").as_array()) {
      const auto id = action.at("action_id").as_string();
      if (epoch.at("outcomes").at(id) != kExecuted) continue;
      for (const json::value& key : action.at("declared_scope").as_array()) {
        auto& [reads, writes] = touched[std::string(key.as_string())];
        ++(action.at("action_type") == "WRITE" ? writes : reads);
      }
    }
    for (const auto& [key, counts] : touched) RC_ASSERT(counts.second == 0 || counts.first + counts.second == 1);
  }
}

// FQ30 beyond two: roles differ, depend on the set of names alone, and whoever has a key writes it in peace.
RC_GTEST_PROP(JointProperty, FQ30_HashPartitionsSeparate, ()) {
  const int n = *rc::gen::inRange(2, 8);
  const int offset = *rc::gen::inRange(0, 1000);
  Scene scene;
  scene.state.clear();
  scene.communication = true;
  scene.maxEpochs = 3;
  std::vector<std::string> keys;
  for (int i = 0; i < n; ++i) keys.push_back("k" + std::to_string(i));
  for (const std::string& key : keys) scene.state += (scene.state.empty() ? "\"" : ",\"") + key + "\":0";
  for (int i = 0; i < n; ++i) {
    const std::string id = "agent_" + std::to_string(offset + i);
    scene.authorities.push_back(allow(i + 1, id, keys));
    scene.hashPartition(id);
  }
  const auto log = runScene(scene);
  RC_ASSERT(terminal(log) == "null");
  for (const json::key_value_pair& member : log.at("epochs").at(0).at("outcomes").as_object())
    RC_ASSERT(member.value() == kRefused);
  for (const json::key_value_pair& member : log.at("epochs").at(1).at("outcomes").as_object())
    RC_ASSERT(member.value() == kExecuted);
  for (const json::key_value_pair& member : log.at("final_state").as_object()) RC_ASSERT(member.value() != 0);
}

}  // namespace
}  // namespace witan::kernel::joint::property_test
