// Seed 002, phase 3: the history is complete, replays to the same states, and shows what was done to it.
#include <array>

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

z3::expr replaysTheSame(Scene& scene, auto makeRecord) {
  const SymbolicState st = anyState(scene);
  const SymbolicInput input = anyInput(scene);
  const SymbolicRecord record = makeRecord(input, st);
  return implies(!mustRespond(st), recordFits(record, st)) && same(takeTurn(record.input, st), takeTurn(input, st));
}

SymbolicState judgeAfterTheEnd(const SymbolicInput& input, const SymbolicState& st) {
  return updateSatisfaction<S>(input.satisfaction, takeTurn(input, st));
}

z3::expr everyChangeIsRecorded(Scene& scene, auto turn) {
  const SymbolicState st = anyState(scene);
  const SymbolicInput input = anyInput(scene);
  return same(turn(input, st), st) || recordFits(recordOf(input, st), st);
}

z3::expr fitsWithoutNumbers(const SymbolicRecord& record, const SymbolicState& st) {
  return !mustRespond(st) && record.invoked == recordOf(record.input, st).invoked;
}

z3::expr gapIsSeen(Scene& scene, auto fits) {
  const SymbolicState first = anyState(scene);
  const SymbolicState second = takeTurn(anyInput(scene, "first"), first);
  const SymbolicRecord record = recordOf(anyInput(scene, "second"), second);
  return implies(!mustRespond(first) && !mustRespond(second), !fits(record, first));
}

z3::expr doublingIsSeen(Scene& scene, auto fits) {
  const SymbolicState st = anyState(scene);
  const SymbolicInput input = anyInput(scene);
  const SymbolicRecord record = recordOf(input, st);
  return implies(recordFits(record, st), !fits(record, takeTurn(input, st)));
}

z3::expr fitsByNumberAlone(const SymbolicRecord& record, const SymbolicState& st) {
  return !mustRespond(st) && record.step == recordOf(record.input, st).step;
}

z3::expr inventedCallIsSeen(Scene& scene, auto fits) {
  const SymbolicState st = anyState(scene);
  const SymbolicRecord record = scene.anyOf<StepRecord>("record");
  return implies(fits(record, st) && record.invoked, canInvokeTool(record.input.tool, st));
}

constexpr std::array kTheorems{
    Theorem{"history-replays", "the record of a turn fits its state, and replays to the state after it",
            [](Scene& s) { return replaysTheSame(s, recordOf<S>); }, "what the call has cost is not recorded",
            [](Scene& s) { return replaysTheSame(s, recordWithoutReport); }},
    Theorem{"history-complete", "whatever changes the state has a record that fits",
            [](Scene& s) { return everyChangeIsRecorded(s, takeTurn<S>); }, "satisfaction is judged after the end too",
            [](Scene& s) { return everyChangeIsRecorded(s, judgeAfterTheEnd); }},
    Theorem{"history-shows-a-gap", "a record does not fit where the one before it is missing",
            [](Scene& s) { return gapIsSeen(s, recordFits<S>); }, "records have no step numbers",
            [](Scene& s) { return gapIsSeen(s, fitsWithoutNumbers); }},
    Theorem{"history-shows-a-double", "a record does not fit a second time",
            [](Scene& s) { return doublingIsSeen(s, recordFits<S>); }, "records have no step numbers",
            [](Scene& s) { return doublingIsSeen(s, fitsWithoutNumbers); }},
    Theorem{"history-shows-a-forbidden-call", "no record of a call fits where the checks refuse it",
            [](Scene& s) { return inventedCallIsSeen(s, recordFits<S>); }, "calls are not compared",
            [](Scene& s) { return inventedCallIsSeen(s, fitsByNumberAlone); }},
};

}  // namespace

std::span<const Theorem> historyTheorems() { return kTheorems; }

}  // namespace witan::agents::proof
