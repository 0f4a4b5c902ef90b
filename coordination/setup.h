// Setup: what a run of joint admissibility starts from: the world, who may do what, the agents, and a fault if one is
// wanted. Read from JSON by readSetup; whatever runs or audits borrows it, and it must outlive them.
//
// Names become numbers once, in the order of canonical JSON: ascending keys and agents are in the order in which they
// are written. Values are numbers too: equal numbers, equal canonical texts (1 and 1.0 are one value). Words as in seed
// 001 and docs/coordination.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "base/reflect.h"
#include "base/result.h"

namespace witan::kernel::joint {

using Key = std::uint32_t;         // index into Setup::keys
using AgentIndex = std::uint32_t;  // index into Setup::agents
using Value = std::uint32_t;       // index into Setup::values; 0 means that the world has no such key

inline constexpr Value kAbsent = 0;
inline constexpr std::uint32_t kUnknown = 0xffffffff;

WITAN_ENUM(ActionType, READ, WRITE)
WITAN_ENUM(Commitment, ALLOW, DENY)
WITAN_ENUM(StrategyKind, scripted, hash_partition, external)

// Deliberately broken kernels, one for each class that the auditors know (docs/coordination.md has the list).
WITAN_ENUM(Injection, none, tie_break, implicit_priority, authority_theft, constraint_probing, unauthorized_execution,
           keep_scope_violation, temporal_aggregation, infinite_retry, nondeterministic_execution,
           nonterminating_condition, conflict_resolution)

struct Atom {
  Key key = 0;
  ActionType operation = ActionType::READ;

  friend auto operator<=>(const Atom&, const Atom&) = default;
};

struct Authority {
  std::string id;
  Commitment commitment = Commitment::ALLOW;
  AgentIndex holder = kUnknown;  // kUnknown: nobody of this run
  std::vector<Atom> scope;       // ascending, unique
};

// An action without who does it and when; the run adds both.
struct Request {
  ActionType type = ActionType::READ;
  std::vector<Key> scope;                       // ascending, unique
  std::vector<std::pair<Key, Value>> delta;     // ascending
  std::vector<std::uint32_t> cited;             // indices into Setup::authorities; kUnknown: there is none of that name
  std::string scopeText, citedText, deltaText;  // canonical JSON, as it was given
};

struct ScriptEntry {
  bool exits = false;
  std::optional<Request> request;  // without either the agent does nothing
};

struct AgentSetup {
  std::string id;
  StrategyKind strategy = StrategyKind::scripted;
  std::vector<ScriptEntry> script;
  bool repeatLast = false;
  std::vector<ScriptEntry> choices;  // of an external agent: all that it may ever do, by number
};

struct Expectation {
  std::optional<std::string> terminal, kernel;  // none: no class is expected
};

struct Setup {
  std::string condition, title;
  std::vector<std::string> keys;    // every key that is named anywhere
  std::vector<std::string> values;  // canonical JSON; values[0] stands for kAbsent
  std::vector<Value> initialState;  // by key
  std::vector<Authority> authorities;
  std::vector<AgentSetup> agents;
  std::string authoritiesText;  // canonical JSON, in the order given
  bool communication = false;
  std::uint32_t maxEpochs = 1;
  Injection injection = Injection::none;
  std::optional<Expectation> expected;
};

// Bounds of a setup from outside.
struct SetupLimits {
  std::size_t bytes = 64 << 20;
  std::size_t values = 4'000'000;  // JSON values and names in it; each takes some hundred bytes while it is read
  std::size_t agents = 10'000;
  std::size_t keys = 100'000;
  std::size_t scope = 10'000;  // keys of one action
  std::size_t epochs = 1'000'000;
  std::uint64_t logBytes = 8ull << 30;  // what the log of the whole run may come to
};

// Strict: unknown, missing, repeated and wrongly typed members, and whatever exceeds the limits, are errors that name
// the place by its JSON path ("$.agents.agent_1.epochs[0].declared_scope"; texts that are no JSON by their byte).
// O(bytes * log).
Result<Setup> readSetup(std::string_view text, SetupLimits limits = {});

// The ten conditions of seed 001 as shipped: coordination/vectors/*.json, compiled in. In order: A to H, I.a, I.b.
struct ShippedVector {
  std::string_view name, text;
};
std::span<const ShippedVector> shippedVectors();

// Numbers of names: in the order of arrival while names are added, in canonical order once sealed.
class Names {
 public:
  std::uint32_t add(std::string_view name) {
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    const auto number = static_cast<std::uint32_t>(numbers_.size());
    numbers_.emplace(name, number);
    return number;
  }
  // The number of each name in canonical order, by its number so far. No name is added afterwards.
  std::vector<std::uint32_t> seal() {
    std::vector<std::uint32_t> sealed(numbers_.size());
    std::uint32_t next = 0;
    for (auto& [name, number] : numbers_) number = sealed[number] = next++;
    return sealed;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, number] : numbers_) all.push_back(name);
    return all;
  }
  std::uint32_t find(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? kUnknown : found->second;
  }
  std::uint32_t at(std::string_view name) const {
    const std::uint32_t number = find(name);
    WITAN_CHECK(number != kUnknown, "a name that was added");
    return number;
  }

 private:
  struct CanonicalLess {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return jsonKeyLess(a, b); }
  };
  std::map<std::string, std::uint32_t, CanonicalLess> numbers_;
};

// Numbers of values, by their canonical text.
class ValueNames {
 public:
  Value number(std::string text) {
    const auto [place, fresh] = numbers_.emplace(std::move(text), static_cast<Value>(texts_.size()));
    if (fresh) texts_.push_back(place->first);
    return place->second;
  }
  std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::unordered_map<std::string, Value> numbers_;
  std::vector<std::string> texts_{"absent"};
};

}  // namespace witan::kernel::joint
