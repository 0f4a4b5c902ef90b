#include "agents/decision/facts.h"

#include "base/utf8.h"

namespace witan::agents::decision {

Status FactBook::add(const Fact<RunTime>& fact) {
  if (!isUtf8(fact.content)) return invalid("a fact's content is not UTF-8");
  if (addFact<RunTime>(fact, limits_, facts_)) return okStatus();
  if (fact.confidence > Natural(kFullySatisfied))
    return invalid("a fact's confidence is " + std::to_string(fact.confidence.value()), "it is a percentage");
  return invalid("the facts are full: " + std::to_string(facts_.list.size()) + " of at most " +
                     std::to_string(limits_.count.value()) + ", " + std::to_string(facts_.bytes.value()) +
                     " bytes of at most " + std::to_string(limits_.bytes.value()),
                 "facts are never dropped; answer with what is known");
}

}  // namespace witan::agents::decision
