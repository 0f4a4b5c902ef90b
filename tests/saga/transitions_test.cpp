// The transition table: total, and what follows from it.
#include "saga/transitions.h"

#include <gtest/gtest.h>

#include <set>

#include "base/json.h"
#include "base/utf8.h"
#include "saga/saga_rows.h"

namespace witan::saga::transitions_test {
namespace {

template <class E>
std::vector<E> all() {
  std::vector<E> out;
  for (std::size_t i = 0; i < enumNames<E>().size(); ++i) out.push_back(static_cast<E>(i));
  return out;
}

// That every pair has a line is asserted when the table is compiled; here that each line says something sensible.
TEST(Transitions, EveryPairOfPhaseAndEventHasAnAnswer) {
  std::size_t answers = 0;
  for (const SagaPhase phase : all<SagaPhase>())
    for (const SagaEvent event : all<SagaEvent>()) {
      const Transition to = transition(phase, event);
      ++answers;
      SCOPED_TRACE(std::string(enumName(phase)) + " " + std::string(enumName(event)));
      if (to.act == SagaAct::refuse) {
        EXPECT_EQ(to.phase, phase) << "what is refused changes nothing";
        continue;
      }
      EXPECT_GE(to.phase, phase) << "a saga never goes back: its effect cannot be un-made by forgetting it";
      EXPECT_EQ(to.act == SagaAct::park, to.status == SagaStatus::needsAttention);
      EXPECT_EQ(to.act == SagaAct::wait, to.status == SagaStatus::backoff);
      EXPECT_EQ(to.act == SagaAct::apply, to.phase == SagaPhase::applying && to.status == SagaStatus::running);
      EXPECT_EQ(to.act == SagaAct::record, to.phase == SagaPhase::recording && to.status == SagaStatus::running);
    }
  EXPECT_EQ(answers, 36u);
}

// 003, section 7: "journal mutation commits first", "agent-domain action/result/state commits second": nobody gets to
// the end but by an outcome that was recorded, and nothing is applied before the row is durable.
TEST(Transitions, TheOrderOfSection7HasNoShortcut) {
  for (const SagaEvent event : all<SagaEvent>()) {
    if (event == SagaEvent::rowDurable) {
      EXPECT_EQ(transition(SagaPhase::intended, event).act, SagaAct::apply);
    } else {
      EXPECT_NE(transition(SagaPhase::intended, event).act, SagaAct::apply) << enumName(event);
    }
    EXPECT_NE(transition(SagaPhase::intended, event).phase, SagaPhase::done);
    EXPECT_NE(transition(SagaPhase::applying, event).phase, SagaPhase::done);
    const Transition to = transition(SagaPhase::recording, event);
    EXPECT_EQ(to.phase == SagaPhase::done, event == SagaEvent::outcomeDurable);
  }
}

// Theorem 3 needs that "recovery retries continue": from every phase the end can be reached.
TEST(Transitions, EveryPhaseLeadsToTheEnd) {
  for (const SagaPhase from : all<SagaPhase>()) {
    std::set<SagaPhase> reached{from};
    for (std::size_t before = 0; before != reached.size();) {
      before = reached.size();
      for (const SagaPhase phase : std::set<SagaPhase>(reached))
        for (const SagaEvent event : all<SagaEvent>()) reached.insert(transition(phase, event).phase);
    }
    EXPECT_TRUE(reached.contains(SagaPhase::done)) << enumName(from);
  }
}

// Half a character would make the operation's record one that nobody can write.
TEST(SagaRow, AnErrorIsCutBetweenCharacters) {
  for (std::size_t n = kMaxErrorBytes - 3; n <= kMaxErrorBytes; ++n) {
    const Outcome outcome = refusal({ErrorCode::conflict, std::string(n, 'x') + "\xe2\x82\xac and so on", ""});
    ASSERT_TRUE(isUtf8(outcome.result)) << n;
    const auto parsed = parseJson(outcome.result);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_LE(parsed->at("error").as_string().size(), kMaxErrorBytes);
    EXPECT_GT(parsed->at("error").as_string().size(), kMaxErrorBytes - 4);
  }
}

}  // namespace
}  // namespace witan::saga::transitions_test
