// Policy: what the agents of a cluster may do, with which models, and what of their data may cross which boundary
// (seed 003 sections 0.7 and 9; Pi of seed 004). Nothing that is not written in it is allowed.
//
// Not a domain's policy (program/policy_file.h), which holds the constants of that domain's rules. A plain value; the
// same names stand in TOML (agents/policy/policy_reader.cpp, docs/examples/agents-policy.toml), with '-' before a
// capital letter ("require-human"), and in JSON, as which it travels in a signed document
// (replication/records/signed_document.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_codec.h"
#include "base/reflect.h"
#include "base/result.h"
#include "base/sha256.h"

namespace witan::agents {

inline constexpr std::size_t kMaxBoundaries = 256;
inline constexpr std::size_t kMaxOperations = 256;  // of one boundary
inline constexpr std::size_t kMaxGrants = 4'096;
inline constexpr std::size_t kMaxPolicyList = 1'024;  // fields, tools, scopes, models, ...
inline constexpr std::size_t kMaxPolicyBytes = 1 << 20;

// The treatment of a payload with fields that are not allowed: it is blocked, or goes without them.
WITAN_ENUM(Excess, block, redact)

// One use of a boundary. The allowlist of (boundary, operation, version) is `allow`.
struct OperationRule {
  std::string name;
  std::vector<std::string> allow;  // field paths (agents/policy/projection.h)
  std::vector<std::string> mask;   // of the allowed ones: they go with "[redacted]" for a value
  Excess excess = Excess::block;
  bool inference = false;            // it is a model that is asked: provider, model and confirmation are checked
  bool confirm = false;              // a person's confirmation is needed although no model is asked
  bool requireHuman = false;         // each single use waits for a counselor
  std::vector<std::string> secrets;  // it needs one of these (secretRefId); none: it needs no secret and gets none
  // What comes back: the fields that agents may see, with `excess` for others; none: all. And what must hold of what
  // they see, a JSON Schema as text: an answer of which it does not hold is a failure of the call.
  Omittable<std::vector<std::string>> answer = {};
  Omittable<std::string> ensure = {};

  WITAN_MEMBERS(OperationRule, name, allow, mask, excess, inference, confirm, requireHuman, secrets, answer, ensure)
  static constexpr std::size_t required = 2;
  friend bool operator==(const OperationRule& a, const OperationRule& b) { return toJson(a) == toJson(b); }
};

// Where data leaves the hands of an agent: a model's endpoint, a tool server, another cluster.
struct Boundary {
  std::string name;
  std::vector<std::string> locales;  // residency tags of the places where data gets to; at least one
  std::vector<OperationRule> operation;

  WITAN_MEMBERS(Boundary, name, locales, operation)
  static constexpr std::size_t required = 2;
  friend bool operator==(const Boundary&, const Boundary&) = default;
};

struct ModelName {
  WITAN_DECLARED(ModelName, (std::string, provider), (std::string, model))

  friend auto operator<=>(const ModelName&, const ModelName&) = default;
};

// The permissions of one agent for data of one category. There are no wildcards.
struct Grant {
  std::string agent;
  std::string category;
  std::vector<std::string> locales;     // where that data may get to (Lambda of a first episode, 004 section 3)
  std::vector<std::string> tools;       // that it may call
  std::vector<std::string> boundaries;  // that it may cross
  std::vector<std::string> scopes;      // that it may touch
  std::vector<ModelName> models;        // that it may ask
  // What may wake it: user, subscription, timer, graph; none: everything.
  Omittable<std::vector<std::string>> wakes = {};

  WITAN_MEMBERS(Grant, agent, category, locales, tools, boundaries, scopes, models, wakes)
  static constexpr std::size_t required = 4;
  friend bool operator==(const Grant& a, const Grant& b) { return toJson(a) == toJson(b); }
};

struct Policy {
  std::string name;
  std::uint64_t version = 0;  // from 1; a confirmation counts for one version
  std::vector<Boundary> boundary;
  std::vector<Grant> grant;

  WITAN_MEMBERS(Policy, name, version, boundary, grant)
  static constexpr std::size_t required = 2;
  friend bool operator==(const Policy&, const Policy&) = default;
};

// SHA-256 of its canonical JSON: two policies of one version that differ are told apart.
Hash policyDigest(const Policy& policy);

// A problem of a policy whose form is right, and its place: "grant[1].boundaries[0]". Empty message: none.
struct PolicyProblem {
  std::string place;
  std::string message;
  std::string hint;
};
PolicyProblem findProblem(const Policy& policy);

// Errors: the form, limits, ids, field paths, duplicates, names that nothing has; each names its place.
Status checkPolicy(const Policy& policy);
Result<Policy> policyFromJson(const json::value& value);

// Reads a policy from TOML. Errors have the form NAME:LINE:COLUMN: CAUSE, with `name` as NAME: not TOML; unknown keys,
// with the nearest known one; missing keys; the findings of checkPolicy. At most kMaxPolicyBytes.
Result<Policy> parsePolicyToml(std::string_view text, const std::string& name);

// `did you mean "x"?`, or all of them if none is near.
std::string didYouMean(std::string_view given, const std::vector<std::string>& known);

}  // namespace witan::agents
