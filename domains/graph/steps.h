// The steps of a graph's ledger and the lines of its runtime (kernel/graph/line.h): one form made from the other.
//
// Pure functions. A fold of all steps gives the state that wrote them, as a fold of the lines does.
#pragma once

#include <functional>
#include <variant>
#include <vector>

#include "domains/graph/actions.h"
#include "kernel/graph/checks.h"
#include "kernel/graph/runtime.h"

namespace witan::domains::graph {

namespace flow = ::witan::graph;

using Step = std::variant<Deploy, Cancel, Redrive, Begin, Verdict, Deliver, Resume, Finish, Fail, Effect, Ask,
                          Compensate, End, Forget, Answer>;

// What a document says to the ledger.
Deploy deployStep(const flow::Document& document);

// Why the ledger's word of a version is not what the document says, or the document may not be deployed by what it was
// checked against; empty: it fits. Anybody with the role Operator can propose a Deploy: the runtime believes the
// document alone.
std::string misfitOf(const flow::Checked& document, const std::string& graph, const std::optional<Version>& version);

// The steps of the role Runtime that make the entry durable. `bodies`: those that the steps name by digest. What others
// have entered (Deploy, Answer, Redrive) is left out. `policy`: the epoch that verdicts were given under.
std::vector<Step> stepsOf(const flow::Entry& entry, const flow::Runtime& runtime, const std::string& policy,
                          std::vector<flow::Body>& bodies);

struct FoldSources {
  // Null: not here.
  std::function<std::shared_ptr<const flow::Document>(const std::string& digest)> document;
  std::function<flow::Body(const std::string& digest)> body;
};
// The lines of a step that stands in the ledger; a body that is not here is null. Errors: corrupt; notFound, the
// document of a Deploy is not here.
Result<flow::Entry> linesOf(const Step& step, std::int64_t atMs, const flow::Runtime& runtime,
                            const FoldSources& sources);

// From an entry's action. Errors: of its form.
Result<Step> readStep(json::object action);

}  // namespace witan::domains::graph
