// GraphRules: what must hold of the ledger of a graph, told from its entries alone: G-01 (runs end, guards hold), G-02
// (lanes), G-03 (nothing crosses unjudged), and what people are asked. Written from docs/graphs.md; it knows neither
// the domain's laws nor the runtime.
//
// Values; each function says "" or the first thing that is wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"

namespace witan::sim {

// What the policy's author meant: "" or why what a gate let pass may not.
using CrossingRule =
    std::function<std::string(std::string_view node, std::string_view verdict, const std::string& digest)>;

// What its sender was told of a message at the ingress of the simulated graph, or of a graph that is in order. Whether
// the message has the form of the graph's type T is told here from what its author means (sim/sim_graph.cpp).
struct GraphAnswer {
  bool isMessage = false;
  std::string body = {};  // of a message
  bool taken = false;     // it began a run
  std::string why = {};   // otherwise
};
std::string checkGraphAnswer(const GraphAnswer& answer);

class GraphRules {
 public:
  explicit GraphRules(CrossingRule crossing) : crossing_(std::move(crossing)) {}

  // The next step that was taken, as its entry has it, and when.
  std::string add(const json::object& step, std::int64_t atMs = 0);
  // What a run of a version may spend, by amount (law 4): "steps", "tokens", "seconds".
  void budget(std::int64_t version, std::map<std::string, std::int64_t> most) {
    versions_[version].budget = std::move(most);
  }
  // How long a run of a version may take, from its beginning or from when a message of it was sent again.
  void timeout(std::int64_t version, std::int64_t ms) { versions_[version].timeoutMs = ms; }
  // At rest: each run has ended, or waits for a person.
  std::string atRest() const;

  struct Effect {
    std::string run, node;
    std::int64_t number = 0;  // in the order of their steps
    bool undone = false;
  };
  const std::map<std::string, Effect>& effects() const { return effects_; }  // by span
  bool wasDelivered(const std::string& span) const { return spans_.contains(span); }
  // Whether its message is under way in it still.
  bool isOpen(const std::string& span) const;
  std::size_t runs() const { return runs_.size(); }
  std::size_t versions() const { return versions_.size(); }
  const std::map<std::string, std::size_t>& deaths() const { return deaths_; }  // by reason

 private:
  struct Version {
    std::map<std::string, std::int64_t> bounds;
    std::map<std::string, std::set<std::string>> gates;  // who may answer; empty: a verdict is needed
    std::map<std::string, std::int64_t> budget = {};     // none: it is not known
    std::int64_t deliveries = 0, timeoutMs = 0;
  };
  struct Message {
    std::string run, node, key, span;  // span: while it is open
    std::int64_t sequence = 0, attempt = 0;
    std::map<std::string, std::int64_t> measures;
    std::string asked;  // the digest
    bool again = false, passed = false, mustAsk = false, approved = false, waits = false;
  };
  struct Run {
    std::int64_t version = 0, sinceMs = 0, deliveries = 0, endedMs = 0, dead = 0;  // dead: letters, sent again or not
    std::map<std::string, std::int64_t> passes, spent;
    std::set<std::pair<std::string, std::string>> failed;  // lanes in which a span died
    std::set<std::string> open;                            // messages
    std::string status = "running";
  };

  std::string onDeploy(const json::object& step);
  std::string onBegin(const json::object& step);
  std::string onDeliver(const json::object& step);
  std::string onVerdict(const json::object& step);
  std::string onFinish(const json::object& step);
  std::string onFail(const json::object& step);
  std::string onEffect(const json::object& step);
  std::string undo(Effect& effect);
  std::string onAsk(const json::object& step);
  std::string onAnswer(const json::object& step);
  std::string onEnd(const json::object& step);
  std::string onRedrive(const json::object& step);
  std::string send(Run& run, const Message& cause, const json::object& sent);
  std::string bury(const json::object& step, bool spanDies = false);
  std::string spend(const json::object& step);
  std::string passage(const Message& message);
  std::string open(std::string id, Message message);
  void close(const std::string& id);
  Message* spanOf(const json::object& step);

  const CrossingRule crossing_;
  std::map<std::int64_t, Version> versions_;
  std::map<std::string, Run> runs_;
  std::map<std::string, Message> messages_;   // open ones
  std::map<std::string, Message> letters_;    // dead ones
  std::map<std::string, std::string> spans_;  // the message of each that ever was
  std::map<std::pair<std::string, std::string>, std::map<std::int64_t, std::string>> lanes_;
  std::set<std::pair<std::string, std::string>> reached_;  // lanes in which a message ever was
  std::map<std::string, Effect> effects_;
  std::map<std::string, std::size_t> deaths_;
  std::map<std::pair<std::string, std::string>, std::int64_t> entered_;  // ingress and external id: when
  std::int64_t sequence_ = 0, atMs_ = 0;
};

}  // namespace witan::sim
