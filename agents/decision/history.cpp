#include "agents/decision/history.h"

namespace witan::agents::decision {

Result<State> replay(const State& initial, std::span<const ActionRecord> history) {
  State st = initial;
  for (std::size_t i = 0; i < history.size(); ++i) {
    const StepRecord<RunTime>& record = history[i].decided;
    if (!recordFits(record, st))
      return corrupt("record " + std::to_string(i) + " of the history does not fit: it is of step " +
                         std::to_string(record.step.value()) + (record.invoked ? ", with a call" : ", without a call") +
                         "; the agent had taken " + std::to_string(st.stepCounter.value()) + " steps" +
                         (mustRespond(st) ? " and had to respond" : ""),
                     "a record is missing, doubled, moved or altered");
    st = takeTurn(record.input, st);
  }
  return st;
}

}  // namespace witan::agents::decision
