// `witan why SUBJECT`: the chain of causes of an entry, an operation, a run or an entity.
#include <algorithm>

#include "base/quote.h"
#include "base/seams.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "cli/format/why_words.h"
#include "node/cluster/device_heads.h"
#include "node/cluster/device_key.h"
#include "node/data_dir/store_dir.h"
#include "node/ledgers/ledger_rows.h"
#include "program/durable_file.h"
#include "program/json_file.h"
#include "program/option_checks.h"

namespace witan::node {

using namespace operations;

namespace {

constexpr std::string_view kWhyNote = "witan-why/1 ";  // no head, order or statement of a copy begins so

struct WhyArguments : ReplicaArguments {
  std::string subject, signedTo, check;
  std::vector<std::string> vkeys;
  bool svg = false;
};

// The chain as this device tells it now: a note (kernel/record/signed_note.h) of two lines, what it is and the JSON.
Status writeSigned(const std::filesystem::path& dir, const Why& answer, const std::string& file) {
  WITAN_TRY(key, readKey(dir, KeyName::device));
  WITAN_TRY(verifiers, readVerifierKeys({(dir / kDeviceKeysFile).string()}));
  const auto own = std::ranges::find_if(verifiers, [&](const kernel::NoteVerifier& one) {
    return one.publicKey == key.publicKey() && one.type == kernel::NoteKeyType::signature;
  });
  if (own == verifiers.end())
    return notFound(concat(kDeviceKeysFile, " in ", dir.string(), " is not of this device's key"),
                    "start its node once: witan up");
  const std::string text =
      concat(kWhyNote, own->name, " at ", formatTime(SystemClock().now()), "\n", toJson(answer), "\n");
  auto note = kernel::signNote(text, std::array{kernel::NoteSigner{own->name, key}});
  if (!note.ok()) return invalid("the chain cannot be signed: " + note.error().message, "ask for less of it");
  return replaceFile(file, *note, 0644);
}

// Errors: none of the given keys signed it, as a chain.
Result<Why> checked(const WhyArguments& a, std::string& head) {
  WITAN_TRY(text, readSmallFile(a.check, kernel::maxNoteBytes));
  if (!text) return Error{ErrorCode::notFound, "no file " + a.check, "witan why SUBJECT --signed FILE writes it"};
  WITAN_TRY(keys, readVerifierKeys(a.vkeys));
  WITAN_TRY(note, kernel::openNote(*text, keys));
  const std::size_t line = note.text.find('\n');
  head = note.text.substr(0, line);
  if (!head.starts_with(concat(kWhyNote, note.verifiedBy.front().name, " ")))
    return invalid(a.check + ": its first line is not of a chain that " + note.verifiedBy.front().name + " signed");
  Why answer;
  WITAN_TRY(value, parseJson(std::string_view(note.text).substr(line + 1), kOwnJson));
  WITAN_DO(readJson(value, answer, a.check));
  return answer;
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
  Why answer;
  std::string head;
  if (!a.check.empty()) {
    WITAN_SET(answer, checked(a, head));
    putErr(concat("witan: ", oneLine(head), ": its signature holds\n"));
  } else {
    WITAN_TRY(path, replicaDirPath(a.dir));
    WITAN_SET(answer, whyIn(path, {a.subject, given(a.scope)}));
    if (!a.signedTo.empty()) WITAN_DO(writeSigned(path, answer, a.signedTo));
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
  command->option("--signed", a->signedTo, "File for the chain, signed with this device's key");
  command->option("--check", a->check, "Such a file, instead of a SUBJECT: its signature, then the chain");
  command->option("--vkey", a->vkeys, "File of verifier keys (device.vkey), one of which must have signed it");
}

}  // namespace witan::node
