// What the agent has learnt (seed 002, phase 2): a list that only grows, within limits.
//
// The rule is the template; FactBook keeps the list behind it, so that nothing else can touch it. A value; O(1) to add.
#pragma once

#include <span>

#include "agents/decision/types.h"
#include "base/result.h"

namespace witan::agents::decision {

WITAN_ENUM(FactSource, user, kg, llm, inference)

template <class L>
struct Fact {
  typename L::Text content;
  typename L::template Enum<FactSource> source;
  typename L::Num confidence;  // 0 to 100

  WITAN_MEMBERS(Fact, content, source, confidence)
  friend bool operator==(const Fact&, const Fact&) = default;
};

template <class L>
struct FactLimits {
  typename L::Num count = 10'000;
  typename L::Num bytes = 4'194'304;  // of all contents

  WITAN_MEMBERS(FactLimits, count, bytes)
};

template <class L>
struct Facts {
  typename L::template List<Fact<L>> list;
  typename L::Num bytes;
};

// Adds the fact if it is sound and fits; whether it did. Never changes or removes another one.
template <class L>
typename L::Bool addFact(const Fact<L>& fact, const FactLimits<L>& limits, Facts<L>& facts) {
  const typename L::Num bytes = L::plus(facts.bytes, L::bytes(fact.content));
  const typename L::Bool fits = L::length(facts.list) < limits.count && bytes <= limits.bytes &&
                                fact.confidence <= L::like(fact.confidence, kFullySatisfied);
  L::appendIf(fits, facts.list, fact);
  facts.bytes = L::ite(fits, bytes, facts.bytes);
  return fits;
}

class FactBook {
 public:
  explicit FactBook(FactLimits<RunTime> limits = {}) : limits_(limits) {}

  // Errors: invalidInput for bad UTF-8, a confidence above 100 or a full book; nothing has changed then.
  Status add(const Fact<RunTime>& fact);
  std::span<const Fact<RunTime>> facts() const { return facts_.list; }

 private:
  FactLimits<RunTime> limits_;
  Facts<RunTime> facts_;
};

}  // namespace witan::agents::decision
