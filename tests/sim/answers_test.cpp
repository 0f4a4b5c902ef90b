// What clients were told against the ledger: each check with a history that only it refuses.
#include "sim/check/answers.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/history.h"
#include "tests/sim/made_history.h"

namespace witan::sim::test::answers_test {
namespace {

// A made history that each test spoils in one place.
class Answers : public testing::Test {
 protected:
  Answers() : made(*module, 7, {.operations = 120, .runs = false}), history(made.stamped()), ledger(made.ledger) {}

  // The first answered operation of this outcome that `also` holds of.
  template <class Also>
  Operation& first(Outcome outcome, Also also) {
    for (Operation& operation : history)
      if (operation.returned && operation.answer.decision.outcome == outcome && also(operation)) return operation;
    ADD_FAILURE() << "no such operation in this history";
    return history.front();
  }
  Operation& first(Outcome outcome) {
    return first(outcome, [](const Operation&) { return true; });
  }
  LedgerLine& lineOf(const Operation& operation) { return ledger[operation.answer.decision.seq - 1]; }
  // Takes an entry out as if it had never been, the later ones move up.
  void drop(std::size_t index) {
    ledger.erase(ledger.begin() + static_cast<std::ptrdiff_t>(index));
    for (std::size_t i = index; i < ledger.size(); ++i) ledger[i].entry.seq = i + 1;
    for (Operation& operation : history)
      if (operation.answer.decision.seq > index + 1) --operation.answer.decision.seq;
  }
  void accepts() { EXPECT_EQ(checkAnswers(history, ledger, lost), ""); }
  void refuses(std::string_view because) {
    const std::string problem = checkAnswers(history, ledger, lost);
    EXPECT_NE(problem.find(because), std::string::npos) << problem;
    if (problem.empty()) ADD_FAILURE() << "nothing was noticed";
  }

  std::unique_ptr<kernel::DomainModule> module = chest::module();
  MadeHistory made;
  std::vector<Operation> history;
  std::vector<LedgerLine> ledger;
  std::vector<LostRange> lost;
};

TEST_F(Answers, GoodOnesPass) { accepts(); }

// Finding F3: an id that was turned away under one plan and decided under the other has two entries.
TEST_F(Answers, GoodOnesWithRunsPass) {
  std::size_t twice = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const MadeHistory good(*module, seed, {.operations = 120});
    ASSERT_EQ(checkAnswers(good.operations, good.ledger), "") << "seed " << seed;
    std::set<std::string> ids;
    for (const LedgerLine& line : good.ledger) twice += ids.insert(line.entry.operationId).second ? 0 : 1;
  }
  EXPECT_GT(twice, 0u);
}

TEST_F(Answers, TheSecondEntryOfAnIdIsNotTheFirst) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const MadeHistory good(*module, seed, {.operations = 120});
    history = good.operations;
    ledger = good.ledger;
    for (Operation& operation : history)
      for (const LedgerLine& line : ledger) {
        if (!operation.returned || line.entry.operationId != operation.operationId) continue;
        if (line.entry.seq >= operation.answer.decision.seq || operation.answer.decision.seq == 0) continue;
        operation.answer.decision.seq = line.entry.seq;  // told of the approval, but with the number of the rejection
        return refuses("but it is");
      }
  }
  ADD_FAILURE() << "no operation of two plans in these histories";
}

TEST_F(Answers, AGapInTheNumbers) {
  ledger.erase(ledger.begin() + 4);
  refuses("stands where entry 5 is due");
}

TEST_F(Answers, OneIdDecidedTwice) {
  LedgerLine again = ledger[3];
  again.entry.seq = ledger.size() + 1;
  ledger.push_back(again);
  refuses("decides again what");
}

TEST_F(Answers, AnAcknowledgedDecisionIsGone) {
  Operation& operation = first(Outcome::approved);
  drop(operation.answer.decision.seq - 1);
  refuses("but no entry has its id");
}

TEST_F(Answers, AnAcknowledgedDecisionIsAnother) {
  first(Outcome::approved).answer.decision.outcome = Outcome::rejected;
  refuses("told rejected");
}

TEST_F(Answers, TheNumberOfAnotherEntry) {
  ++first(Outcome::approved).answer.decision.seq;
  refuses("but it is entry");
}

TEST_F(Answers, AnAnswerWithoutItsNumber) {
  first(Outcome::approved).answer.decision.seq = 0;
  refuses("without the number");
}

TEST_F(Answers, ANumberWithoutAnEntry) {
  first(Outcome::refused).answer.decision.seq = 1;
  refuses("such an answer has no entry");
}

TEST_F(Answers, AnotherWitness) {
  first(Outcome::rejected).answer.decision.invariant = "SHY";
  refuses("but its witness is");
}

TEST_F(Answers, AnotherMessage) {
  first(Outcome::rejected).answer.decision.message = "no";
  refuses("with the message \"no\"");
}

TEST_F(Answers, AnotherSafety) {
  Operation& operation = first(Outcome::cCommitted);
  operation.answer.decision.safe = !*operation.answer.decision.safe;
  refuses("and it is not");
}

TEST_F(Answers, ADuplicateOfSomethingElse) {
  Operation& operation = first(Outcome::duplicate);
  operation.answer.decision.recorded =
      operation.answer.decision.recorded == Outcome::approved ? Outcome::rejected : Outcome::approved;
  refuses("duplicate of");
}

TEST_F(Answers, ADuplicateThatForgotItsAnswer) {
  Operation& operation = first(Outcome::duplicate);
  operation.answer.decision.recorded = Outcome::duplicate;
  operation.answer.decision.seq = 0;
  refuses("not what was answered the first time");
}

TEST_F(Answers, AnEntryOfAnotherAct) {
  lineOf(first(Outcome::approved)).entry.role = "Imp of another name";
  refuses("is of another act");
}

TEST_F(Answers, AnEntryThatNobodyAskedFor) {
  LedgerLine line = ledger.front();
  line.entry.seq = ledger.size() + 1;
  line.entry.operationId = "from nowhere";
  ledger.push_back(line);
  refuses("asked for by nobody");
}

// One id, one act, but another plan than anybody's (F3).
TEST_F(Answers, AnEntryUnderAPlanThatNobodyAskedFor) {
  kernel::Entry& entry = lineOf(first(Outcome::approved)).entry;
  const Hash run = sha256("run"), plan = sha256("plan");
  entry.runKey.assign(run.begin(), run.end());
  entry.planDigest.assign(plan.begin(), plan.end());
  refuses("asked for by nobody");
}

TEST_F(Answers, AnEntityThatNobodyBegan) {
  std::erase_if(history, [](const Operation& operation) { return operation.kind == OperationKind::init; });
  refuses("nobody began its entity");
}

TEST_F(Answers, AnExpiryThatIsNone) {
  LedgerLine line = lineOf(first(Outcome::cRejected));
  line.entry.seq = ledger.size() + 1;
  line.entry.counselor = "system";
  line.entry.operationId = "expire:" + std::to_string(line.entry.escalation + 1);
  ledger.push_back(line);
  refuses("asked for by nobody");
}

// What was answered must not be decided about as if it were new.
TEST_F(Answers, AForgottenOperationId) {
  Operation& operation = first(Outcome::duplicate, [&](const Operation& one) {
    return std::any_of(history.begin(), history.end(), [&](const Operation& other) {
      return other.operationId == one.operationId && other.returned && *other.returned < one.invoked &&
             other.answer.decision.seq == one.answer.decision.seq;
    });
  });
  operation.answer.decision = {.outcome = Outcome::refused};
  refuses("had been told of");
}

TEST_F(Answers, OrderAgainstTime) {
  // The first entry of one operation, made to be asked for after the last answer of all.
  Operation& operation = first(Outcome::approved, [](const Operation& one) { return one.answer.decision.seq < 5; });
  operation.invoked = 1'000'000;
  operation.returned = 1'000'001;
  for (Operation& other : history)
    if (&other != &operation && other.operationId == operation.operationId) other.operationId += "-other";
  refuses("before");
}

TEST_F(Answers, FrozenOfNothing) {
  Operation& operation = first(Outcome::frozen);
  operation.invoked = operation.returned.emplace(2) - 1;
  refuses("told frozen while nothing was pending");
}

TEST_F(Answers, DeclaredLossesExcuse) {
  // The last answered entry and all after it are gone by a seizure.
  std::uint64_t last = 0;
  for (const Operation& operation : history)
    if (operation.answer.decision.outcome == Outcome::approved) last = std::max(last, operation.answer.decision.seq);
  ledger.resize(last - 1);
  refuses("but no entry has its id");
  lost.push_back({{1, "owner"}, last});
  accepts();
  lost[0].epoch.number = 2;
  refuses("but no entry has its id");
  lost[0] = {{1, "owner"}, last + 1};
  refuses("but no entry has its id");
}

// A device that asks again for what it was told, and an answer that its owner gave to the first attempt.
class LateAnswers : public testing::Test {
 protected:
  LateAnswers() {
    node::Request begin{.kind = node::RequestKind::init, .domain = "chest", .entity = "e0"};
    books.asked({.device = 3, .invoked = 1, .request = begin});
    kernel::Entry entry{.seq = 1, .tag = kernel::Tag::rejected, .entity = "e0", .role = "Imp", .operationId = "op-1"};
    entry.invariant = first.invariant, entry.message = first.message;
    ledger.push_back({entry, {}});
    again.outcome = Outcome::duplicate, again.recorded = Outcome::rejected;
    ask(100);
  }

  void ask(Micros at) { books.asked({.device = 3, .invoked = at, .request = request}); }
  void gives(const node::Answer& answer, Micros at) {
    std::string frames;
    WordWriter words;
    node::appendFrame(frames, words, request);
    node::appendFrame(frames, words, answer);
    books.gave(3, frames, at);
  }
  void hears(const node::Answer& answer, Micros at) {
    RequestRecord* asked = books.open(3, answer.operationId, answer.asked);
    ASSERT_NE(asked, nullptr);
    books.answered(*asked, at, answer);
  }
  // The repetition was told of first, and the device asks once more.
  void hearsOfTheRepetition() {
    gives(again, 150);
    hears(again, 160);
    ask(200);
  }
  std::string problem() const {
    const auto operations = operationsOf(books.requests(), *module, [](const node::Request&) { return true; });
    return checkAnswers(operations, ledger);
  }
  void refuses(std::string_view because) const { EXPECT_NE(problem().find(because), std::string::npos) << problem(); }

  std::unique_ptr<kernel::DomainModule> module = chest::module();
  node::Request request{.domain = "chest", .entity = "e0", .role = "Imp", .operationId = "op-1"};
  node::Answer first{.operationId = "op-1",
                     .outcome = Outcome::rejected,
                     .seq = 1,
                     .epochNumber = 1,
                     .epochOwner = "device-0:1",
                     .invariant = "SHY",
                     .message = "no",
                     .asked = fingerprintOf(request)};
  node::Answer again = first;
  History books;
  std::vector<LedgerLine> ledger;
};

TEST_F(LateAnswers, TheFirstAnswerMayComeAfterThatToTheRepetition) {
  gives(first, 110);
  hearsOfTheRepetition();
  hears(first, 210);
  EXPECT_EQ(problem(), "");
}

TEST_F(LateAnswers, ARepeatedFrameIsLate) {
  gives(first, 110);
  hears(first, 120);
  ask(200);
  hears(first, 210);
  EXPECT_EQ(problem(), "");
}

TEST_F(LateAnswers, TheFirstAnswerToWhatWasToldBefore) {
  gives(first, 110);
  hearsOfTheRepetition();
  gives(first, 205);
  hears(first, 210);
  refuses("had been told of entry 1");
}

TEST_F(LateAnswers, TheFirstAnswerGivenTwice) {
  gives(first, 110);
  hears(first, 120);
  ask(200);
  gives(first, 205);
  hears(first, 210);
  refuses("had been told of entry 1");
}

TEST_F(LateAnswers, AnAnswerThatNobodyGave) {
  hearsOfTheRepetition();
  hears(first, 210);
  refuses("had been told of entry 1");
}

TEST_F(LateAnswers, AnotherOutcomeThanTheOneGiven) {
  gives(first, 110);
  hearsOfTheRepetition();
  node::Answer other = first;
  other.outcome = Outcome::approved;
  hears(other, 210);
  refuses("but it is entry 1");
}

TEST_F(LateAnswers, ALateAnswerOfAnotherOutcome) {
  node::Answer other = first;
  other.outcome = Outcome::approved;
  gives(other, 110);
  hearsOfTheRepetition();
  hears(other, 210);
  refuses("but it is entry 1");
}

TEST_F(LateAnswers, ALateAnswerOfAnotherEntry) {
  node::Answer other = first;
  other.seq = 2;
  gives(other, 110);
  hearsOfTheRepetition();
  hears(other, 210);
  refuses("but it is entry 1");
}

// A beginning is no entry; it is answered once all the same.
TEST_F(LateAnswers, OfABeginning) {
  request.kind = node::RequestKind::init;
  first = {.operationId = "op-1", .outcome = Outcome::initialised, .asked = fingerprintOf(request)};
  again = first;
  again.outcome = Outcome::duplicate, again.recorded = Outcome::initialised;
  ask(100);
  gives(first, 110);
  hearsOfTheRepetition();
  hears(first, 210);
  ask(300);
  gives(first, 305);
  hears(first, 310);
  const auto operations = operationsOf(books.requests(), *module, [](const node::Request&) { return true; });
  ASSERT_EQ(operations.size(), 5u);
  EXPECT_EQ(operations[3].answer.decision.outcome, Outcome::duplicate);
  EXPECT_EQ(operations[3].answer.decision.recorded, Outcome::initialised);
  EXPECT_EQ(operations[4].answer.decision.outcome, Outcome::initialised) << "given anew: none of the late ones";
}

TEST_F(LateAnswers, TheAnswerToAnotherDevice) {
  hearsOfTheRepetition();
  std::string frames;
  WordWriter words;
  node::appendFrame(frames, words, first);
  books.gave(4, frames, 110);
  hears(first, 210);
  refuses("had been told of entry 1");
}

TEST(MadeAnswers, ArePassed) {
  const auto module = chest::module();
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const MadeHistory made(*module, seed, {.operations = 80, .ttl = seed % 3 == 0 ? 40 : 0});
    ASSERT_EQ(checkAnswers(made.operations, made.ledger), "") << "seed " << seed;
  }
}

// One thing wrong in each: an answer, a number, an entry left out, an entry twice.
TEST(MadeAnswers, OneCorruptionIsNoticed) {
  const auto module = chest::module();
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const MadeHistory made(*module, seed, {.operations = 60});
    for (std::size_t i = 0; i < made.operations.size(); ++i) {
      if (!made.operations[i].returned || made.operations[i].answer.decision.seq == 0) continue;
      auto history = made.operations;
      kernel::Decision& told = history[i].answer.decision;
      Outcome& outcome = told.outcome == Outcome::duplicate ? told.recorded : told.outcome;
      outcome = outcome == Outcome::approved ? Outcome::rejected : Outcome::approved;
      EXPECT_NE(checkAnswers(history, made.ledger), "") << "seed " << seed << ": another outcome";
      told = made.operations[i].answer.decision;
      told.seq = told.seq % made.ledger.size() + 1;
      if (made.ledger.size() > 1) {
        EXPECT_NE(checkAnswers(history, made.ledger), "") << "seed " << seed << ": a number";
      }

      auto ledger = made.ledger;
      ledger.erase(ledger.begin() + static_cast<std::ptrdiff_t>(made.operations[i].answer.decision.seq - 1));
      for (std::size_t k = 0; k < ledger.size(); ++k) ledger[k].entry.seq = k + 1;
      EXPECT_NE(checkAnswers(made.operations, ledger), "") << "seed " << seed << ": an entry left out";
    }
  }
}

// Two neighbours change places, in the ledger and in what was told: only the clients' clocks can tell.
TEST(MadeAnswers, SwappedNeighboursAreNoticedWhereTimeTells) {
  const auto module = chest::module();
  std::size_t noticed = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const MadeHistory made(*module, seed, {.operations = 60, .trouble = false});
    for (std::size_t i = 0; i + 1 < made.ledger.size(); ++i) {
      auto history = made.operations;
      auto ledger = made.ledger;
      std::swap(ledger[i].entry, ledger[i + 1].entry);
      std::swap(ledger[i].entry.seq, ledger[i + 1].entry.seq);
      const Operation *before = nullptr, *after = nullptr;
      for (Operation& operation : history) {
        std::uint64_t& seq = operation.answer.decision.seq;
        if (seq == i + 1)
          before = &operation, seq = i + 2;
        else if (seq == i + 2)
          after = &operation, seq = i + 1;
      }
      if (*before->returned >= after->invoked) continue;
      ++noticed;
      EXPECT_NE(checkAnswers(history, ledger), "") << "seed " << seed << ", entry " << i + 1;
    }
  }
  EXPECT_GT(noticed, 50u);
}

}  // namespace
}  // namespace witan::sim::test::answers_test
