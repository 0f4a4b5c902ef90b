// Vocabulary that the domains' rules and samplers share: verdicts over many rows, what texts state, random choices.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/seams.h"
#include "base/utf8.h"
#include "kernel/record/verdict.h"
#include "rules/program/names.h"

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

using rules::isCanonicalName, rules::isStated, rules::spacedOnce, rules::trimmedLength;

template <class T, std::size_t N>
T pick(Random& random, const std::array<T, N>& from) {
  return from[random.below(N)];
}

}  // namespace witan::domains
