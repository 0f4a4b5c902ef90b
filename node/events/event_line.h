// EventLine: one line of an events file, decoded (the wire form is in README.md, "Events").
//
// Pure functions over bytes from outside: any bytes give a line or an error that names the cause. Limits: kLineMax
// bytes, JSON depth 32.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "kernel/partition.h"

namespace witan::node {

inline constexpr std::size_t kLineMax = 1 << 20;

struct EventLine {
  enum class Kind { init, proposal, decision };
  Kind kind = Kind::proposal;
  Time at;
  std::string entity;
  std::optional<std::string> operationId;
  std::optional<std::string> expect;
  std::string title;
  // init
  json::object init;
  // proposal
  std::string role, device, agent;
  Hash runKey{}, planDigest{};  // zeros: neither
  json::value action;
  // decision
  std::string counselor, reason;
  bool commit = false;
  kernel::CommitBase base = kernel::CommitBase::candidate;
  json::object edit;
  std::optional<std::uint64_t> escalation;
  std::optional<Hash> digest;
};

// `entity` and `expect` are filled as far as they could be read even when the line as a whole is refused.
Status parseEventLine(std::string_view text, EventLine& line);

// The operation id of a line that brings none: from its number and content.
std::string lineOperationId(std::uint64_t number, std::string_view text);

}  // namespace witan::node
