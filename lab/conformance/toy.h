// Toys to try the laws of the episode kernel on: an agent that does anything an agent can do, drawn from a seed; tools
// with costs and places; a policy that allows, denies, redacts and asks, drawn from a seed too. All pure, as the real
// ones must be. For `witan conformance kernels` and for tests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/agent.h"
#include "agents/episode/episode.h"
#include "agents/episode/gate.h"
#include "agents/episode/tool.h"

namespace witan::agents::conformance {

// A number that the text decides: FNV-1a, then splitmix64.
std::uint64_t mix(std::uint64_t seed, std::string_view text);

// look.near, look.us, look.eu: reads, the last two take data to a place. act.put, act.us: mutations.
episode::ToolTable toyTools();

struct ToyTraits {
  bool throws = false;     // now and then
  bool malformed = false;  // now and then its output breaks a limit
  bool plans = true;       // else it only looks
};

// What it does next follows from everything it was told so far. It also asks for what it may not have.
class ToyAgent : public Agent {
 public:
  explicit ToyAgent(std::uint64_t seed, ToyTraits traits = {});
  const AgentSpec& spec() const override { return spec_; }
  Turn step(const json::value& sigma, const Input& input) const override;

 private:
  Turn looks(std::uint64_t random, json::value sigma) const;
  Turn plan(std::uint64_t random, json::value sigma) const;

  const std::uint64_t seed_;
  const ToyTraits traits_;
  AgentSpec spec_;
};

// Breaks Law 1: it keeps a count between calls, which no transcript holds. A replay must notice.
class ImpureAgent final : public ToyAgent {
 public:
  using ToyAgent::ToyAgent;
  Turn step(const json::value& sigma, const Input& input) const override;

 private:
  mutable std::uint64_t calls_ = 0;
};

class ToyGate final : public episode::Gate {
 public:
  explicit ToyGate(std::uint64_t seed) : seed_(seed) {}
  episode::GateVerdict judge(const episode::GateRequest& request) const override;
  std::string epoch() const override { return concat("toy-", seed_); }

 private:
  const std::uint64_t seed_;
};

// Allows whatever the episode itself allows.
class OpenGate final : public episode::Gate {
 public:
  episode::GateVerdict judge(const episode::GateRequest&) const override {
    return {episode::GateKind::allow, {}, {}, {}, {}};
  }
  std::string epoch() const override { return "open"; }
};

WITAN_ENUM(StepKind, planWritten, entryWritten, looked, acted, crashed)

// One thing that became true and stays true, whatever dies afterwards.
struct Step {
  StepKind kind = StepKind::crashed;
  std::string device;
  std::uint64_t entry = 0;  // of entryWritten
  std::string span;         // of looked and acted
};

// What outlives a process. The plan and the effects are shared by devices (as replication will have it), transcripts
// are each device's own.
struct ToyDisk {
  std::map<std::string, std::vector<std::string>> transcripts;  // by device
  std::optional<replication::PlanBody> plan;
  std::map<OperationId, std::uint64_t> applied;    // operation records, each in one write with its effect
  std::map<OperationId, std::uint64_t> mutations;  // how often the outside was really changed
  std::vector<Step> history;
};

struct ToyOptions {
  std::string device = "d1";
  std::set<std::uint64_t> crashAt;  // numbers of boundaries: the process dies there
  std::uint64_t run = 0;            // which wake
  std::uint64_t worldSeed = 0;      // what tools answer: another at each attempt
  bool checkRecords = true;         // an operation whose record is there is not carried out again
};

// ToyHost: the smallest composition that can carry out an episode, with a disk that loses what was not flushed and a
// process that dies wherever it is told to. It keeps a history of what reached the disk and what was done outside,
// which the laws are checked against (lab/conformance/laws.h). Deterministic.
class ToyHost {
 public:
  ToyHost(const Agent& agent, const episode::Gate& gate, ToyOptions options, ToyDisk& disk)
      : agent_(agent), gate_(gate), options_(std::move(options)), disk_(disk) {}

  // Until the run has ended and its transcript is on the disk. Errors: what the episode says; it does not come to an
  // end.
  Status run();
  // One life of the process: whether it came to the run's end.
  Result<bool> live();
  // How many places there were to die at.
  std::uint64_t boundaries() const { return boundary_; }

 private:
  struct Died {};
  void boundary();
  Status goOn();
  Status open();
  void writePlan();
  void writeEntries();
  Status carryOut(const episode::Effect& effect);
  Status answer(const episode::Question& question);

  const Agent& agent_;
  const episode::Gate& gate_;
  const ToyOptions options_;
  ToyDisk& disk_;
  std::optional<episode::Episode> episode_;
  std::uint64_t boundary_ = 0, attempts_ = 0;
};

RunKey toyRun(std::uint64_t seed);

}  // namespace witan::agents::conformance
