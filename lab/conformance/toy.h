// Toys to try the laws of the episode kernel on: an agent that does anything an agent can do, drawn from a seed; tools
// with costs and places; a policy that allows, denies, redacts and asks, drawn from a seed too. All pure, as the real
// ones must be. For `witan conformance kernels` and for tests.
#pragma once

#include <cstdint>
#include <string>

#include "agents/agent.h"
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
  std::string epoch() const override { return "toy-" + std::to_string(seed_); }

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

}  // namespace witan::agents::conformance
