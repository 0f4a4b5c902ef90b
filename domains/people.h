// Who is human, by name. Domains in which a field says who decided ("human.verifier", "agent.appeals") share the rule.
//
// Names are free text; a program that lies about its name is the harness's to keep out, not the domain's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace witan::domains {

// A name is of one of the kinds when its first word is: kind "human" holds for "human", "human.lead" and "human-7",
// not for "humanoid".
inline bool isOfKind(std::string_view name, const std::vector<std::string>& kinds) {
  const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0; };
  for (const std::string& kind : kinds)
    if (name.starts_with(kind) && (name.size() == kind.size() || !isLetter(name[kind.size()]))) return true;
  return false;
}

// A policy must leave somebody who can decide.
inline Status validHumans(const std::vector<std::string>& kinds) {
  if (kinds.empty()) return invalid("policy.humans: names nobody, so that nothing escalated could ever be decided");
  for (const std::string& kind : kinds)
    if (kind.empty()) return invalid("policy.humans: an empty name would make everybody human");
  return okStatus();
}

}  // namespace witan::domains
