// `witan why SUBJECT`: the chain of causes of an entry, an operation, a run or an entity.
#include "base/seams.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "cli/format/why_words.h"
#include "cli/ledgers/why_evidence.h"
#include "node/data_dir/store_dir.h"
#include "node/ledgers/ledger_rows.h"
#include "program/durable_file.h"
#include "program/json_file.h"
#include "program/option_checks.h"

namespace witan::node {

using namespace operations;

namespace {

struct WhyArguments : ReplicaArguments {
  std::string subject, signedTo, check;
  std::vector<std::string> vkeys;
  bool svg = false, force = false;
};

Status writeSigned(const std::filesystem::path& dir, const Why& answer, const WhyArguments& a) {
  WITAN_TRY(note, signedWhy(dir, answer));
  return replaceFile(a.signedTo, note, 0644);
}

Result<CheckedWhy> checked(const WhyArguments& a) {
  WITAN_TRY(text, readSmallFile(a.check, kernel::maxNoteBytes));
  if (!text) return notFound("no file " + a.check, "witan why SUBJECT --signed FILE writes it");
  WITAN_TRY(keys, readVerifierKeys(a.vkeys));
  auto held = checkedWhy(*text, keys);
  if (!held.ok()) return Error{held.error().code, a.check + ": " + held.error().message, held.error().hint};
  return held;
}

// With the ledgers, which other operations do not need.
Result<Why> whyIn(const std::filesystem::path& path, const WhyRequest& request) {
  if (const auto node = runningNode(path)) return send(*node, kWhy, request);
  WITAN_TRY(dir, openAtRest(path));
  OperationContext context{path, dir->replica().data(), SystemClock().now(), [] { return okStatus(); },
                           &dir->replica()};
  return why(context, request);
}

Result<int> explain(const WhyArguments& a) {
  if (a.subject.empty() == a.check.empty())
    return reportUsage(invalid("give either a SUBJECT or --check FILE"), a.json);
  if (a.check.empty() != a.vkeys.empty())
    return reportUsage(invalid("--check and --vkey go together", "--vkey takes a copy of the device's device.vkey"),
                       a.json);
  if (std::error_code ec; !a.signedTo.empty() && !a.force && std::filesystem::exists(a.signedTo, ec))
    return conflict("there is a file " + a.signedTo, "give another one, or --force to replace it");
  Why answer;
  if (!a.check.empty()) {
    WITAN_TRY(held, checked(a));
    putErr(concat("witan: ", oneLine(held.head),
                  ": its signature holds; entries of ledgers under signed heads: ", held.proven, "\n"));
    for (const std::string& person : held.persons)
      putErr(concat("witan: an answer in it bears the signature of ", person, "\n"));
    answer = std::move(held.chain);
  } else {
    WITAN_TRY(path, replicaDirPath(a.dir));
    WITAN_SET(answer, whyIn(path, {a.subject, given(a.scope)}));
    if (!a.signedTo.empty()) WITAN_DO(writeSigned(path, answer, a));
  }
  return printed({a.json ? toJson(answer) + "\n" : a.svg ? whySvg(answer) : whyText(answer)});
}

}  // namespace

void addWhyCommand(Command& app) {
  const auto [command, a] = addVerb<WhyArguments>(
      app, "why", "Why something is as it is: change, wake, looks, plan, verdict, operation, decision",
      "witan why udt/David --dir data", explain);
  command->option(
      "SUBJECT", a->subject,
      "Operation id, run key, DOMAIN/NUMBER:SEQ of a ledger entry, id of a journal entry, or DOMAIN/ENTITY");
  addScopeOption(command, *a);
  command->flag("--svg", a->svg, "A drawing");
  command->option("--signed", a->signedTo,
                  "File for the chain with proofs of its entries of ledgers, signed with this device's key");
  command->flag("--force", a->force, "Replace the file if there is one");
  command->option("--check", a->check, "Such a file, instead of a SUBJECT: signatures and proofs, then the chain");
  command->option("--vkey", a->vkeys,
                  "File of verifier keys (device.vkey): one must have signed the chain, one each head of a ledger");
}

}  // namespace witan::node
