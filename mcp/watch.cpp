#include "mcp/watch.h"

#include "base/bytes.h"
#include "base/sha256.h"

namespace witan::mcp {

namespace {

// Without what changes by itself, the age of a slice on a device that keeps no ledgers, and without the entity's clock,
// which each decision moves.
std::string digestOf(const Outcome& outcome) {
  const json::value* contents = outcome.result.if_contains("contents");
  if (contents == nullptr) return "none";
  auto value = parseJson(textIn(contents->at(0).as_object(), "text"), kOwnJson);
  if (!value.ok()) return "none";
  if (json::object* object = value->if_object()) {
    for (const char* member : {"at", "ageSeconds"}) object->erase(member);
    if (json::value* state = object->if_contains("state"); state != nullptr && state->is_object())
      state->get_object().erase("clock");
  }
  return toHex(sha256(canonicalJson(*value)));
}

}  // namespace

void Watch::keep(const std::set<std::string>& uris) {
  std::erase_if(seen_, [&](const auto& one) { return !uris.contains(one.first); });
}

bool Watch::changed(const std::string& uri, const Outcome& outcome) {
  const std::string digest = digestOf(outcome);
  const auto [at, first] = seen_.emplace(uri, digest);
  if (first || at->second == digest) return false;
  at->second = digest;
  return true;
}

Call readingOf(std::string_view uri) { return {nullptr, true, "resources/read", {{"uri", uri}}}; }

}  // namespace witan::mcp
