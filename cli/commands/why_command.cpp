// `witan why SUBJECT`: the chain of causes of an entry, an operation, a run or an entity.
#include "base/seams.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "cli/format/why_words.h"
#include "node/ledgers/ledger_rows.h"

namespace witan::node {

using namespace operations;

namespace {

struct WhyArguments : ReplicaArguments {
  std::string subject;
  bool svg = false;
};

// With the ledgers, which other operations do not need.
Result<Why> whyIn(const std::filesystem::path& path, const WhyRequest& request) {
  if (const auto node = runningNode(path)) return send(*node, kWhy, request);
  WITAN_TRY(dir, openAtRest(path));
  OperationContext context{path, dir->replica().data(), SystemClock().now(), [] { return okStatus(); },
                           &dir->replica()};
  return why(context, request);
}

Result<int> explain(const WhyArguments& a) {
  WITAN_TRY(path, replicaDirPath(a.dir));
  WITAN_TRY(answer, whyIn(path, {a.subject, given(a.scope)}));
  return printed({a.json ? toJson(answer) + "\n" : a.svg ? whySvg(answer) : whyText(answer)});
}

}  // namespace

void addWhyCommand(Command& app) {
  const auto [command, a] = addVerb<WhyArguments>(
      app, "why", "Why something is as it is: change, wake, looks, plan, verdict, operation, decision",
      "witan why udt/David --dir data", explain);
  command
      ->option("SUBJECT", a->subject,
               "Operation id, run key, DOMAIN/NUMBER:SEQ of a ledger entry, id of a journal entry, or DOMAIN/ENTITY")
      ->required();
  addScopeOption(command, *a);
  command->flag("--svg", a->svg, "A drawing");
}

}  // namespace witan::node
