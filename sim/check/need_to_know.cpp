#include "sim/check/need_to_know.h"

#include <algorithm>
#include <array>

namespace witan::sim {

namespace {

struct Allowed {
  std::string_view tool, field;
};
constexpr std::array kAllowed{Allowed{"sim.ask", "about"}, Allowed{"sim.mail", "to"}, Allowed{"sim.mail", "text"}};

}  // namespace

bool isConfirmed(std::span<const replication::Version> versions) {
  const auto replaced = [&](const replication::Version& version) {
    return std::any_of(versions.begin(), versions.end(), [&](const replication::Version& other) {
      return !(other.dot == version.dot) && other.context.covers(version.dot);
    });
  };
  bool confirmed = false;
  for (const replication::Version& version : versions) {
    if (replaced(version)) continue;
    if (version.tombstone) return false;
    confirmed = true;
  }
  return confirmed;
}

std::string checkNeedToKnow(std::string_view tool, const json::object& arguments) {
  for (const auto& [field, value] : arguments) {
    const bool allowed = std::any_of(
        kAllowed.begin(), kAllowed.end(),
        [&, told = std::string_view(field)](const Allowed& one) { return one.tool == tool && one.field == told; });
    if (!allowed) return std::string(tool) + " is told " + std::string(field) + ", which is on no allowlist";
  }
  const std::string text = canonicalJson(arguments);
  if (text.find(kNeedToKnow) != std::string::npos) return std::string(tool) + " is told what may not be told: " + text;
  return {};
}

}  // namespace witan::sim
