// `witan incident list|show|export|verify`: what an operator should know, and proofs of misbehaviour as files.
#include <algorithm>
#include <cctype>
#include <map>
#include <memory>

#include "cli/client/device_names.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "domains/registry.h"
#include "kernel/ledger/ledger.h"
#include "kernel/record/statement.h"
#include "node/data_dir/store_dir.h"
#include "program/durable_file.h"
#include "program/json_file.h"
#include "program/option_checks.h"
#include "replica/core/entry_evidence.h"

namespace witan::node {

namespace {

constexpr std::size_t kFileNameMax = 80;

struct IncidentArguments : LiveArguments {
  std::size_t number = 0;
  std::string out = ".";
};

struct ProofArguments {
  std::string file;
  std::vector<std::string> vkeys;
  bool json = false;
};

Result<int> list(const ControlClient& client, const IncidentArguments& a) {
  WITAN_TRY(answer, client.get("/v1/incidents"));
  return print(answer, a.json, [&](const json::value& shownList) {
    const DeviceNames names = deviceNames(client);
    std::vector<std::vector<std::string>> rows;
    for (const json::value& i : rowsOf(shownList, "incidents"))
      rows.push_back(
          {std::to_string(rows.size() + 1), shown(i, "kind"), names.in(shown(i, "peer")), names.in(shown(i, "what"))});
    return rows.empty() ? std::string("none\n") : columns(rows);
  });
}

Result<int> show(const ControlClient& client, const IncidentArguments& a) {
  WITAN_TRY(incidents, client.get("/v1/incidents"));
  WITAN_TRY(evidence, client.get("/v1/evidence"));
  const json::array& rows = rowsOf(incidents, "incidents");
  if (a.number == 0 || a.number > rows.size())
    return notFound(concat("no incident ", a.number, " among ", rows.size()), "see: witan incident list");
  json::object incident = rows[a.number - 1].as_object();
  for (const json::value& row : rowsOf(evidence, "evidence"))
    if (shown(row, "what") == shown(incident, "what")) incident["evidence"] = shown(row, "file");
  return print(incident, a.json, [&](const json::value& i) {
    return concat(
        deviceNames(client).in(concat(shown(i, "kind"), "  ", shown(i, "peer"), "\n", shown(i, "what"), "\n")),
        i.as_object().contains("evidence") ? shown(i, "evidence") + "\n" : "");
  });
}

Result<int> exportAll(const ControlClient& client, const IncidentArguments& a) {
  WITAN_TRY(answer, client.get("/v1/evidence"));
  json::array files;
  std::map<std::string, int> named;
  for (const json::value& row : rowsOf(answer, "evidence")) {
    std::string name = shown(row, "log").substr(0, kFileNameMax);  // as who lied wrote it
    std::ranges::replace_if(
        name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '_'; }, '-');
    if (const int before = named[name]++; before > 0) name += concat(".", before + 1);
    const std::filesystem::path file = std::filesystem::path(a.out) / (name + ".evidence.json");
    WITAN_DO(replaceFile(file, shown(row, "file") + "\n", 0644));
    files.emplace_back(file.string());
  }
  return print(json::object{{"files", files}}, a.json, [](const json::value& written) {
    std::string text;
    for (const json::value& file : written.at("files").as_array()) text += std::string(file.as_string()) + "\n";
    return text.empty() ? std::string("none\n") : text;
  });
}

// The id of a device is of its first key, so the name says whose that is. Of another key somebody has to say it.
bool isNamedById(const kernel::NoteVerifier& signer) {
  return signer.name.ends_with("/" + kernel::deviceOfKey(signer.publicKey));
}

Result<int> verify(const ProofArguments& a) {
  WITAN_TRY(text, readSmallFile(a.file, kMaxEntryEvidence));
  if (!text) return Error{ErrorCode::notFound, "no file " + a.file, "witan incident export writes such files"};
  WITAN_TRY(keys, readVerifierKeys(a.vkeys));
  std::unique_ptr<kernel::DomainModule> domain;
  auto proven = verifyEvidence(chomped(*text), [&](const kernel::LedgerFormat& format) {
    auto made = domains::domainOf(format);
    domain = made.ok() ? *std::move(made) : nullptr;
    return domain.get();
  });
  const bool known = proven.ok() && (keys.empty() ? isNamedById(proven->signer)
                                                  : std::ranges::find(keys, proven->signer) != keys.end());
  if (proven.ok() && !known)
    proven = invalid("evidence: signed with " + kernel::verifierKeyText(proven->signer) +
                     (keys.empty() ? ", which the id in its name is not of; give --vkey FILE with the device's keys"
                                   : ", which is none of the given keys"));
  json::object answer{{"proven", proven.ok()}};
  answer["what"] = proven.ok() ? proven->what : named(a.file, proven.error()).message;
  if (proven.ok()) answer["key"] = kernel::verifierKeyText(proven->signer);
  (void)print(answer, a.json, [&](const json::value& shownAnswer) {
    return concat(proven.ok() ? "proven " : "bad ", shown(shownAnswer, "what"), "\n");
  });
  return proven.ok() ? kExitOk : kExitFailed;
}

}  // namespace

void addIncidentCommand(Command& app) {
  Command* noun =
      app.noun("incident", "What an operator should know, and proofs of misbehaviour", "witan incident list");
  addLiveVerb<IncidentArguments>(*noun, "list", "All incidents, numbered", "witan incident list", list);
  const auto [showing, a] =
      addLiveVerb<IncidentArguments>(*noun, "show", "One incident with its evidence", "witan incident show 1", show);
  showing->option("number", a->number, "Its number in the list")->required()->check(wholeNumber(1));
  const auto [exporting, to] = addLiveVerb<IncidentArguments>(*noun, "export", "Write each evidence into a file",
                                                              "witan incident export --out DIR", exportAll);
  exporting->option("--out", to->out, "Folder for the files")->showDefault();
  const auto proof = std::make_shared<ProofArguments>();
  Command* verifying = noun->command("verify", "Check a file of evidence, without any node");
  verifying->option("file", proof->file, "File of `witan incident export`")->required();
  verifying->option("--vkey", proof->vkeys, "File of verifier keys (device.vkey), one of which must have signed");
  verifying->flag("--json", proof->json, "JSON output");
  verifying->footer("Example: witan incident verify FILE --vkey FILE");
  runs(verifying, proof, verify);
}

}  // namespace witan::node
