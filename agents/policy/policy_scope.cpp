#include "agents/policy/policy_scope.h"

#include <algorithm>

#include "base/quote.h"

namespace witan::agents {

namespace {

std::vector<std::string> sortedUnique(std::vector<std::string> words) {
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

// The first word of `wanted` that `all` does not have; null if there is none.
const std::string* firstBeyond(const std::vector<std::string>& all, const std::vector<std::string>& wanted) {
  const std::vector<std::string> have = sortedUnique(all);
  for (const std::string& word : wanted)
    if (!std::ranges::binary_search(have, word)) return &word;
  return nullptr;
}

}  // namespace

bool covers(const PolicyScope& all, const PolicyScope& of) {
  bool yes = true;
  forEachMember<PolicyScope>(
      [&](auto member, auto) { yes = yes && firstBeyond(all.*member.pointer, of.*member.pointer) == nullptr; });
  return yes;
}

PolicyScope grantedScope(const Policy& policy, std::string_view agent, std::string_view category) {
  for (const Grant& g : policy.grant)
    if (g.agent == agent && g.category == category)
      return {sortedUnique(g.tools), sortedUnique(g.boundaries), sortedUnique(g.scopes), sortedUnique(g.locales)};
  return {};
}

Result<PolicyScope> narrowScope(const PolicyScope& parent, PolicyScope wanted) {
  Status status = okStatus();
  forEachMember<PolicyScope>([&](auto member, auto) {
    if (!status.ok()) return;
    if (const std::string* word = firstBeyond(parent.*member.pointer, wanted.*member.pointer))
      status = Error{
          ErrorCode::unauthorised,
          concat("a fork may only narrow: its parent does not hold ", inQuotes(*word), " among its ", member.name),
          "give the sub-episode less, or its parent more"};
    wanted.*member.pointer = sortedUnique(std::move(wanted.*member.pointer));
  });
  if (!status.ok()) return status.error();
  return wanted;
}

}  // namespace witan::agents
