// The graph that runs on simulated clusters, its agent, and the policy over its boundaries.
//
//   in -> weaver (again, while `left` falls; by way of turn, at most twice) -> doctor, a person -> out, into the
//   journal
//
// Each version is drawn: with or without the person, a second way in, a pair of results gathered; keys, capacities,
// concurrency, attempts, patience, what becomes of effects when a run is cancelled.
//
// What a message's `mood` says happens to it: the agent fails, sends what does not conform, too much, or what no guard
// lets pass; or it asks a tool that the node does not grant. A message with a member `private` may not enter, and of
// what leaves only topic and lot may. Where a version knows duplicates, results of one lot are, in lanes by topic.
// Versions differ in what is waited for. Immutable, any thread.
#pragma once

#include <memory>
#include <string_view>

#include "agents/agent.h"
#include "agents/host/device_gate.h"
#include "base/json.h"
#include "kernel/graph/environment.h"

namespace witan::sim {

inline constexpr std::string_view kSimGraph = "sim-flow";
inline constexpr std::string_view kSimWeaver = "sim-weaver";

// The column that its runs begin by, where there are such ledgers.
inline constexpr std::string_view kHeardDomain = "verification", kHeardField = "finding.phase", kHeardValue = "TRIAGED";

// The document of a version, the same wherever it is made. `hears`: what ledgers say begins runs of it, too.
json::object simGraph(std::uint64_t seed, std::int64_t version, bool hears = false);
// One that breaks a rule of the lint, which `n` chooses.
json::object brokenSimGraph(std::uint64_t seed, std::int64_t version, std::uint64_t n, bool hears = false);
// What its owners check it against.
graph::Environment simGraphEnvironment();
json::object simGraphMessage(std::uint64_t n);
const agents::Agent& simWeaver();
std::shared_ptr<agents::DeviceGate> simGraphGate();

}  // namespace witan::sim
