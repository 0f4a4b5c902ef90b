// Vocabulary that the domains' rules and samplers share: verdicts over many rows, who is human, random choices.
//
// Names of people are free text; a program that lies about its name is the harness's to keep out, not the domain's.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/seams.h"
#include "base/utf8.h"
#include "kernel/record/verdict.h"

namespace witan::domains {

// The verdict on the first row that does not pass.
template <class Rows, class Check>
kernel::Verdict firstFailing(Rows&& rows, Check&& check) {
  for (auto row : rows)
    if (kernel::Verdict verdict = check(row); !verdict.passed()) return verdict;
  return kernel::Verdict::pass();
}

template <class Rows, class Test>
bool noneOf(Rows&& rows, Test&& test) {
  for (auto row : rows)
    if (test(row)) return false;
  return true;
}

// All of F exist in the row, or none.
template <class... F, class Row>
bool shareKey(const Row& row) {
  const int held = (static_cast<int>(row.template has<F>()) + ...);
  return held == 0 || held == static_cast<int>(sizeof...(F));
}

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

template <class T, std::size_t N>
T pick(Random& random, const std::array<T, N>& from) {
  return from[random.below(N)];
}

}  // namespace witan::domains
