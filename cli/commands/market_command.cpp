// `witan market`: what can be checked of the market's documents and ledgers from files alone (docs/market.md); the
// verbs of a running node stand in market_live_command.cpp.
#include <cstdio>

#include "base/bytes.h"
#include "base/quote.h"
#include "base/seams.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "cli/commands/market_verbs.h"
#include "domains/escrow/escrow.h"
#include "kernel/market/equivocation.h"
#include "kernel/market/evidence.h"
#include "market/letters.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster_store.h"
#include "node/data_dir/replica_dir.h"
#include "node/data_dir/store_dir.h"
#include "node/market/market_identity.h"
#include "program/error_report.h"
#include "program/json_file.h"
#include "program/line_reader.h"
#include "program/output.h"

namespace witan::node {

namespace {

struct MarketArguments : LiveArguments {
  std::string file, other, store;
  std::vector<std::string> roots, keys;
};

Result<market::Roots> rootsOf(const std::vector<std::string>& words) {
  market::Roots roots;
  for (const std::string& word : words) {
    const std::size_t at = word.rfind('=');
    const auto key = at == word.npos ? Result<Hash>(invalid("")) : hashFromHex(std::string_view(word).substr(at + 1));
    if (!key.ok() || at == 0)
      return invalid("--root " + inQuotes(word) + ": must be ORG=HEX, the key with 64 hex digits in lower case",
                     "see witan market verify --help");
    if (!roots.emplace(word.substr(0, at), *key).second)
      return invalid("--root " + inQuotes(word) + ": the organisation has two roots");
  }
  return roots;
}

Result<int> trust(const MarketArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  WITAN_TRY(roots, readMarketRoots(dir));
  if (!a.file.empty() || !a.other.empty()) {
    if (const std::string flaw = market::nameFlaw("an organisation's name", a.file); !flaw.empty())
      return reportUsage(invalid(flaw), a.json);
    const auto key = hashFromHex(a.other);
    if (!key.ok())
      return reportUsage(invalid("ROOT " + inQuotes(a.other) + ": a root has 64 hex digits in lower case"), a.json);
    const auto [at, isNew] = roots.emplace(a.file, a.other);
    if (!isNew && at->second != a.other)
      return conflict(inQuotes(a.file) + " is trusted with another root, " + fingerprintOf(*hashFromHex(at->second)),
                      "ask the organisation which one is its own; then: witan market untrust " + a.file);
    WITAN_DO(writeMarketRoots(dir, roots));
  }
  json::array rows;
  std::string words;
  for (const auto& [org, root] : roots) {
    if (!a.file.empty() && org != a.file) continue;
    const std::string fingerprint = fingerprintOf(*hashFromHex(root));
    rows.push_back({{"org", org}, {"root", root}, {"fingerprint", fingerprint}});
    words += org + " " + fingerprint + "\n";
  }
  putWords(a.json ? canonicalJson(json::object{{"roots", std::move(rows)}}) + "\n" : words);
  return kExitOk;
}

Result<int> untrust(const MarketArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  WITAN_TRY(roots, readMarketRoots(dir));
  if (roots.erase(a.file) == 0) return notFound(inQuotes(a.file) + " is not trusted", "see: witan market trust");
  WITAN_DO(writeMarketRoots(dir, roots));
  if (a.json) putWords(canonicalJson(json::object{{"org", a.file}}) + "\n");
  return kExitOk;
}

// ---- a device that does not hold the root

Result<MarketOrigin> originOf(const std::filesystem::path& dir, const std::string& org) {
  WITAN_TRY(cluster, readClusterFile(dir));
  WITAN_TRY(root, publicKeyFromHex(cluster.adminKey, "adminKey"));
  WITAN_TRY(rosters, RosterStore::open(dir, root));
  WITAN_TRY(identity, readReplicaIdentity(dir));
  WITAN_TRY(key, readKey(dir, KeyName::device));
  return MarketOrigin{org, rosters.current().cluster, identity.device, key.publicKey(), root};
}

template <class Document>
Result<Document> documentIn(const std::string& file) {
  WITAN_TRY(parsed, readJsonFile(file, {.bytes = market::kMostEnvelopeBytes}));
  Document document;
  WITAN_DO(readJson(parsed, document, file));
  return document;
}

Result<int> enrol(const MarketArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  WITAN_TRY(origin, originOf(dir, a.file));
  if (a.other.empty()) {
    WITAN_TRY(key, readKey(dir, KeyName::device));
    WITAN_TRY(asked, enrolInMarket(dir, origin, key));
    putOut(asked + "\n");
    return kExitOk;
  }
  WITAN_TRY(licence, documentIn<MarketLicence>(a.other));
  WITAN_DO(takeLicence(dir, origin, licence, market::momentOf(SystemClock().now())));
  putWords(a.json ? canonicalJson(json::object{{"org", a.file}}) + "\n"
                  : concat("this device speaks for ", a.file, " when it starts again\n"));
  return kExitOk;
}

Result<int> grant(const MarketArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  WITAN_TRY(asked, documentIn<json::value>(a.file));
  WITAN_TRY(cluster, readClusterFile(dir));
  WITAN_TRY(root, publicKeyFromHex(cluster.adminKey, "adminKey"));
  WITAN_TRY(rosters, RosterStore::open(dir, root));
  WITAN_TRY(licence, grantInMarket(dir, asked, rosters.current(), market::momentOf(SystemClock().now())));
  putOut(toJson(licence) + "\n");
  return kExitOk;
}

// Those that are given, else those of the data directory.
Result<market::Roots> rootsFor(const MarketArguments& a) {
  if (!a.roots.empty()) return rootsOf(a.roots);
  WITAN_TRY(dir, replicaDirPath(a.dir));
  WITAN_TRY(trusted, readMarketRoots(dir));
  market::Roots roots = marketRootsOf(trusted);
  if (roots.empty()) return notFound("no root is trusted", "give --root ORG=HEX, or: witan market trust ORG ROOT");
  return roots;
}

Result<int> verify(const MarketArguments& a) {
  const auto roots = rootsFor(a);
  if (!roots.ok()) return a.roots.empty() ? Result<int>(roots.error()) : reportUsage(roots.error(), a.json);
  WITAN_TRY(text, readInput(a.file, market::kBundleLimits.bytes));
  const market::Verification found = market::verifyBundleText(text, *roots);
  if (a.json)
    putWords(canonicalJson(found.ok() ? json::object{{"result", "ok"}}
                                      : json::object{{"result", found.id}, {"message", found.message}}) +
             "\n");
  else
    putWords(found.ok() ? "ok: all checks EB01 to EB17 hold\n" : found.id + ": " + found.message + "\n");
  std::fflush(stdout);  // what is not proven comes after the verdict
  putErr(concat(market::kNotProven, "\n"));
  return found.ok() ? kExitOk : kExitFailed;
}

Result<int> equivocation(const MarketArguments& a) {
  WITAN_TRY(one, readInput(a.file, market::kBundleLimits.bytes));
  WITAN_TRY(other, readInput(a.other, market::kBundleLimits.bytes));
  const auto both = market::findEquivocation(one, other, a.keys);
  if (!both.ok())
    return both.error().code == ErrorCode::notFound ? both.error()  // nothing is proven
                                                    : named(concat(a.file, " and ", a.other), both.error());
  const market::Equivocation& found = *both;
  if (a.json) {
    putOut(
        canonicalJson(json::object{
            {"result", "proven"}, {"what", found.what}, {"keys", json::array(found.keys.begin(), found.keys.end())}}) +
        "\n");
    return kExitOk;
  }
  std::string words = "proven: two texts of one " + found.what + ", both signed by";
  for (const std::string& key : found.keys) words += " " + key;
  putWords(words + "\n");
  return kExitOk;
}

std::string viewWords(const json::object& view) {
  std::string words;
  for (const auto& [name, value] : view)
    if (name != "calls")
      words +=
          std::string(name) + " " + (value.is_string() ? std::string(value.get_string()) : canonicalJson(value)) + "\n";
  for (const auto& [call, state] : view.at("calls").as_object())
    words += "call " + oneLine(call) + " " + std::string(state.as_string()) + "\n";
  return words;
}

int printView(const json::object& view, bool asJson) {
  asJson ? putWords(canonicalJson(view) + "\n") : putWords(viewWords(view));
  return kExitOk;
}

Result<int> show(const MarketArguments& a) {
  if (a.store.empty())
    return onLiveNode(a, [&](const ControlClient& node) -> Result<int> {
      WITAN_TRY(view, liveEscrow(node, a.file));
      if (!view.is_object() || !view.get_object().contains("calls"))
        return conflict("the holder says: " + canonicalJson(view), "see: witan market contract show " + a.file);
      return printView(view.get_object(), a.json);
    });
  WITAN_TRY(opened, openStoreDir({.dir = a.store, .domain = "escrow"}));
  const kernel::EntityState* entity = opened.ledger->partition().state(a.file);
  if (entity == nullptr)
    return notFound(concat("no contract \"", clip(a.file), "\" in ", a.store),
                    "see: witan ledger tail --store " + a.store);
  return printView(domains::escrow::viewOf(*entity), a.json);
}

void addDir(Command& command, const std::shared_ptr<MarketArguments>& arguments) {
  command.option("--dir", arguments->dir, "Data directory; default $WITAN_DIR, else $XDG_DATA_HOME/witan")
      ->typeName("DIR");
}

template <class Act>
Command* addVerb(Command& noun, const char* verb, const char* about, const std::shared_ptr<MarketArguments>& arguments,
                 Act act) {
  Command* command = noun.command(verb, about);
  command->flag("--json", arguments->json, "JSON output");
  runs(command, arguments, act);
  return command;
}

}  // namespace

void addMarketCommand(Command& app) {
  Command* noun =
      app.command("market", "Contracts between organisations: sell, buy, verify evidence, show escrows, prove lies");
  noun->requireCommand();
  noun->footer(
      "Example: witan market equivocation docs/examples/market/contract-a.json docs/examples/market/contract-b.json");

  const auto trusted = std::make_shared<MarketArguments>();
  Command* command =
      addVerb(*noun, "trust", "Trust the root key of an organisation; without words, list", trusted, trust);
  Option* org = command->option("ORG", trusted->file, "The organisation, as its documents name it");
  Option* root = command->option("ROOT", trusted->other, "Its root key, hex, told by its own people");
  org->needs(root);
  addDir(*command, trusted);
  command->footer(
      "Compare the fingerprint that is printed with the organisation. Another root for a trusted one is refused.\n"
      "Example: witan market trust lab e560d90a3b72b928bb92401e8077662fb92f68c578a45d293affe5268710f999");

  const auto left = std::make_shared<MarketArguments>();
  command = addVerb(*noun, "untrust", "Trust the root key of an organisation no longer", left, untrust);
  command->option("ORG", left->file, "The organisation")->required();
  addDir(*command, left);
  command->footer("Example: witan market untrust lab");

  const auto enrolled = std::make_shared<MarketArguments>();
  command =
      addVerb(*noun, "enrol", "Let a device without the cluster's root speak for the organisation", enrolled, enrol);
  command->option("ORG", enrolled->file, "The organisation, as its documents name it")->required();
  command->option("--with", enrolled->other, "What market grant has printed; without: print what it is to grant")
      ->typeName("FILE");
  addDir(*command, enrolled);
  command->footer("No private key leaves the device.\nExample: witan market enrol lab");

  const auto granted = std::make_shared<MarketArguments>();
  command = addVerb(*noun, "grant", "Sign, with the root, that a device speaks for the organisation", granted, grant);
  command->option("REQUEST", granted->file, "What market enrol has printed there; - for standard input")->required();
  addDir(*command, granted);
  command->footer(
      "Where the cluster was begun. The device must be in the roster. It holds for a week, and is made anew by this "
      "device's node.\n"
      "Example: witan market grant request.json");

  const auto verified = std::make_shared<MarketArguments>();
  command = addVerb(*noun, "verify", "Check an evidence bundle, offline", verified, verify);
  command->option("BUNDLE", verified->file, "The bundle, JSON; - for standard input")->required();
  command->option("--root", verified->roots, "Key of an organisation; repeated. Without: those of market trust")
      ->oneWordEach()
      ->typeName("ORG=HEX");
  addDir(*command, verified);
  command->footer(
      "Exit code 1: a check fails; docs/market.md explains EB01 to EB17.\n"
      "Example: witan market verify docs/examples/market/bundle.json "
      "--root clinic=a77ed765bce2766963d6e3b3425f03daac11711fc2f20d4fbd825b807a849b5a "
      "--root lab=e560d90a3b72b928bb92401e8077662fb92f68c578a45d293affe5268710f999");

  const auto shown = std::make_shared<MarketArguments>();
  command = addVerb(*noun, "show", "Show the money and the calls of a contract in escrow", shown, show);
  command->option("ENTITY", shown->file, "The contract's entity; of a node also its id")->required();
  command->option("--store", shown->store, "Ledger of witan run --domain escrow; without it a running node is asked")
      ->typeName("DIR");
  addDir(*command, shown);
  command->footer("Example: witan market show K1 --store DIR");

  const auto lied = std::make_shared<MarketArguments>();
  command =
      addVerb(*noun, "equivocation", "Prove that a key signed two texts that exclude each other", lied, equivocation);
  command->option("A", lied->file, "Envelope, bundle or signed checkpoint")->required();
  command->option("B", lied->other, "Another")->required();
  command->option("--key", lied->keys, "Evidence key (hex) or verifier key of a ledger; repeated")->oneWordEach();
  command->footer(
      "Two contracts of one id, two statements of one order, two checkpoints of one size. Exit code 1: nothing is "
      "proven.\n"
      "Example: witan market equivocation docs/examples/market/contract-a.json docs/examples/market/contract-b.json");
  addMarketVerbs(*noun);
}

}  // namespace witan::node
