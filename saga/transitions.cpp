#include "saga/transitions.h"

#include <array>

namespace witan::saga {

namespace {

using P = SagaPhase;
using E = SagaEvent;
using S = SagaStatus;
using A = SagaAct;

struct Line {
  P from;
  E event;
  Transition to;
};

constexpr Transition kRefused{};

// clang-format off
constexpr std::array kLines{
    Line{P::intended,  E::rowDurable,     {P::applying,  S::running,        A::apply}},
    Line{P::intended,  E::carriedOut,     kRefused},
    Line{P::intended,  E::failed,         kRefused},
    Line{P::intended,  E::exhausted,      kRefused},
    Line{P::intended,  E::due,            kRefused},
    Line{P::intended,  E::outcomeDurable, kRefused},
    Line{P::intended,  E::retried,        kRefused},
    Line{P::intended,  E::withdrawn,      {P::recording, S::running,        A::record}},
    Line{P::intended,  E::undone,         kRefused},

    Line{P::applying,  E::rowDurable,     kRefused},
    Line{P::applying,  E::carriedOut,     {P::recording, S::running,        A::record}},
    Line{P::applying,  E::failed,         {P::applying,  S::backoff,        A::wait}},
    Line{P::applying,  E::exhausted,      {P::applying,  S::needsAttention, A::park}},
    Line{P::applying,  E::due,            {P::applying,  S::running,        A::apply}},
    Line{P::applying,  E::outcomeDurable, kRefused},
    Line{P::applying,  E::retried,        {P::applying,  S::running,        A::apply}},
    Line{P::applying,  E::withdrawn,      {P::recording, S::running,        A::record}},
    Line{P::applying,  E::undone,         kRefused},

    Line{P::recording, E::rowDurable,     kRefused},
    Line{P::recording, E::carriedOut,     kRefused},
    Line{P::recording, E::failed,         {P::recording, S::backoff,        A::wait}},
    Line{P::recording, E::exhausted,      {P::recording, S::needsAttention, A::park}},
    Line{P::recording, E::due,            {P::recording, S::running,        A::record}},
    Line{P::recording, E::outcomeDurable, {P::done,      S::completed,      A::finish}},
    Line{P::recording, E::retried,        {P::recording, S::running,        A::record}},
    Line{P::recording, E::withdrawn,      kRefused},
    Line{P::recording, E::undone,         kRefused},

    Line{P::done,      E::rowDurable,     kRefused},
    Line{P::done,      E::carriedOut,     kRefused},
    Line{P::done,      E::failed,         kRefused},
    Line{P::done,      E::exhausted,      kRefused},
    Line{P::done,      E::due,            kRefused},
    Line{P::done,      E::outcomeDurable, kRefused},
    Line{P::done,      E::retried,        kRefused},
    Line{P::done,      E::withdrawn,      kRefused},
    Line{P::done,      E::undone,         {P::done,      S::compensated,    A::keep}},
};
// clang-format on

constexpr std::size_t kEvents = enumNames<SagaEvent>().size();

// Every pair has its line, and the lines stand in the order of the pairs.
constexpr bool isTotal() {
  if (kLines.size() != enumNames<SagaPhase>().size() * kEvents) return false;
  for (std::size_t i = 0; i < kLines.size(); ++i)
    if (static_cast<std::size_t>(kLines[i].from) != i / kEvents ||
        static_cast<std::size_t>(kLines[i].event) != i % kEvents)
      return false;
  return true;
}
static_assert(isTotal());

}  // namespace

Transition transition(SagaPhase phase, SagaEvent event) {
  Transition to = kLines[static_cast<std::size_t>(phase) * kEvents + static_cast<std::size_t>(event)].to;
  if (to.act == SagaAct::refuse) to.phase = phase;
  return to;
}

SagaStatus endOf(OperationOutcome outcome) {
  switch (outcome) {
    case OperationOutcome::applied: return SagaStatus::completed;
    case OperationOutcome::denied: return SagaStatus::denied;
    case OperationOutcome::failed: return SagaStatus::failed;
  }
  return SagaStatus::failed;
}

}  // namespace witan::saga
