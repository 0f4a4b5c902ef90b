// What the invariants of disclosure share: words, facts as of a disclosure, and the choice between several verdicts.
// Used by domains/disclosure/*.cpp only.
#pragma once

#include <string>

#include "base/utf8.h"
#include "domains/disclosure/state.h"

namespace witan::domains::disclosure {

// What people wrote is quoted only in part: a message must stay one line.
inline std::string clipped(std::string_view text) { return std::string(clip(text, 80)); }

// Known, and no later than `by`.
inline bool isBy(const Cell<Time>& fact, Time by) { return fact && *fact <= by; }

// The patch counts as released by T.
template <class Row>
bool releasedBy(const Row& v, Time by) {
  return v.template get<PatchStatusOf>() == PatchStatus::RELEASED && isBy(v.template get<PatchReleasedAt>(), by);
}

// Of the verdicts on several rows, in the order of their keys: the first rejection, else the first escalation. Nobody
// is asked about what is lost anyway.
class Worst {
 public:
  // True: nothing later can change it.
  bool add(Verdict verdict) {
    if (verdict.passed() || (worst_.result() == InvResult::escalate && verdict.result() == InvResult::escalate))
      return false;
    worst_ = std::move(verdict);
    return worst_.result() == InvResult::reject;
  }
  Verdict take() { return std::move(worst_); }

 private:
  Verdict worst_;
};

// Rows to judge again, each once, in the order of their keys.
template <class Row>
class Affected {
 public:
  void add(const Row& row) { rows_.push_back(row); }
  template <class Judge>
  Verdict judge(Judge&& judge) {
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.key() < b.key(); });
    const auto end =
        std::unique(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.slot() == b.slot(); });
    Worst worst;
    for (auto at = rows_.begin(); at != end; ++at)
      if (worst.add(judge(*at))) break;
    return worst.take();
  }

 private:
  boost::container::small_vector<Row, 8> rows_;
};

template <class Range, class Judge>
Verdict judgeAll(Range&& rows, Judge&& judge) {
  Worst worst;
  for (auto row : rows)
    if (worst.add(judge(row))) break;
  return worst.take();
}

}  // namespace witan::domains::disclosure
