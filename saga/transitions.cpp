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

// The pairs that make sense. Every other pair is refused.
// clang-format off
constexpr std::array kLines{
    Line{P::intended,  E::rowDurable,     {P::applying,  S::running,        A::apply}},
    Line{P::intended,  E::withdrawn,      {P::recording, S::running,        A::record}},
    Line{P::applying,  E::carriedOut,     {P::recording, S::running,        A::record}},
    Line{P::applying,  E::failed,         {P::applying,  S::backoff,        A::wait}},
    Line{P::applying,  E::exhausted,      {P::applying,  S::needsAttention, A::park}},
    Line{P::applying,  E::due,            {P::applying,  S::running,        A::apply}},
    Line{P::applying,  E::retried,        {P::applying,  S::running,        A::apply}},
    Line{P::applying,  E::withdrawn,      {P::recording, S::running,        A::record}},
    Line{P::recording, E::failed,         {P::recording, S::backoff,        A::wait}},
    Line{P::recording, E::exhausted,      {P::recording, S::needsAttention, A::park}},
    Line{P::recording, E::due,            {P::recording, S::running,        A::record}},
    Line{P::recording, E::outcomeDurable, {P::done,      S::completed,      A::finish}},
    Line{P::recording, E::retried,        {P::recording, S::running,        A::record}},
    Line{P::done,      E::undone,         {P::done,      S::compensated,    A::keep}},
};
// clang-format on

}  // namespace

Transition transition(SagaPhase phase, SagaEvent event) {
  for (const Line& line : kLines)
    if (line.from == phase && line.event == event) return line.to;
  Transition refused;
  refused.phase = phase;
  return refused;
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
