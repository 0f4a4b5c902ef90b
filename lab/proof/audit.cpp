// Seed 002, phase 3: the history is complete, replays to the same states, and shows what was done to it.
#include "lab/proof/claims.h"

namespace witan::agents::proof {

using namespace decision;

namespace {

using SymbolicRecord = StepRecord<S>;

SymbolicRecord recordWithoutReport(const SymbolicInput& input, const SymbolicState& st) {
  SymbolicRecord record = recordOf(input, st);
  record.input.report.tokensSpent = S::like(record.step, 0);
  return record;
}

constexpr auto replaysTheSame = [](Scene& scene, auto makeRecord) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicInput input = anyInput(scene);
  const SymbolicRecord record = makeRecord(input, st);
  return implies(!mustRespond(st), recordFits(record, st)) && same(takeTurn(record.input, st), takeTurn(input, st));
};

SymbolicState judgeAfterTheEnd(const SymbolicInput& input, const SymbolicState& st) {
  return updateSatisfaction<S>(input.satisfaction, takeTurn(input, st));
}

constexpr auto everyChangeIsRecorded = [](Scene& scene, auto turn) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicInput input = anyInput(scene);
  return same(turn(input, st), st) || recordFits(recordOf(input, st), st);
};

z3::expr fitsWithoutNumbers(const SymbolicRecord& record, const SymbolicState& st) {
  return !mustRespond(st) && record.invoked == recordOf(record.input, st).invoked;
}

constexpr auto gapIsSeen = [](Scene& scene, auto fits) -> z3::expr {
  const SymbolicState first = anyState(scene);
  const SymbolicState second = takeTurn(anyInput(scene, "first"), first);
  const SymbolicRecord record = recordOf(anyInput(scene, "second"), second);
  return implies(!mustRespond(first) && !mustRespond(second), !fits(record, first));
};

constexpr auto doublingIsSeen = [](Scene& scene, auto fits) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicInput input = anyInput(scene);
  const SymbolicRecord record = recordOf(input, st);
  return implies(recordFits(record, st), !fits(record, takeTurn(input, st)));
};

z3::expr fitsByNumberAlone(const SymbolicRecord& record, const SymbolicState& st) {
  return !mustRespond(st) && record.step == recordOf(record.input, st).step;
}

constexpr auto inventedCallIsSeen = [](Scene& scene, auto fits) -> z3::expr {
  const SymbolicState st = anyState(scene);
  const SymbolicRecord record = scene.anyOf<StepRecord>("record");
  return implies(fits(record, st) && record.invoked, canInvokeTool(record.input.tool, st));
};

constexpr Theorem kTheorems[] = {
    {"history-replays", "the record of a turn fits its state, and replays to the state after it",
     about<replaysTheSame, recordOf<S>>, "what the call has cost is not recorded",
     about<replaysTheSame, recordWithoutReport>},
    {"history-complete", "whatever changes the state has a record that fits", about<everyChangeIsRecorded, takeTurn<S>>,
     "satisfaction is judged after the end too", about<everyChangeIsRecorded, judgeAfterTheEnd>},
    {"history-shows-a-gap", "a record does not fit where the one before it is missing", about<gapIsSeen, recordFits<S>>,
     "records have no step numbers", about<gapIsSeen, fitsWithoutNumbers>},
    {"history-shows-a-double", "a record does not fit a second time", about<doublingIsSeen, recordFits<S>>,
     "records have no step numbers", about<doublingIsSeen, fitsWithoutNumbers>},
    {"history-shows-a-forbidden-call", "no record of a call fits where the checks refuse it",
     about<inventedCallIsSeen, recordFits<S>>, "calls are not compared", about<inventedCallIsSeen, fitsByNumberAlone>},
};

}  // namespace

std::span<const Theorem> historyTheorems() { return kTheorems; }

}  // namespace witan::agents::proof
