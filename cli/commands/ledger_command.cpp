// `witan ledger tail|show|verify|export|checkpoint|proof` on a store directory.
#include <cstdio>
#include "program/command_line.h"

#include "base/bytes.h"
#include "cli/commands/commands.h"
#include "cli/ledgers/ledger_live.h"
#include "domains/registry.h"
#include "kernel/ledger/ledger_verify.h"
#include "node/data_dir/store_dir.h"
#include "node/ledgers/ledger_reader.h"
#include "program/option_checks.h"
#include "program/output.h"
#include "store/wal_damage.h"

namespace witan::node {

using namespace kernel;

namespace {

struct LedgerArguments {
  std::string store;
  std::string dir;
  std::string domain;
  std::string partition;
  bool follow = false;
  std::string entity;
  std::size_t count = 20;
  std::uint64_t seq = 0;
  std::uint64_t from = 1;
  std::uint64_t to = 0;
  std::uint64_t consistencyFrom = 0;
  bool replay = false;
  bool json = false;
};

void print(const std::string& line) { putOut(line + "\n"); }
void say(const std::string& words) { putWords(words + "\n"); }

Result<LedgerFormat> formatOf(const store::Reader& store) {
  WITAN_TRY(format, Ledger::readFormat(store));
  if (!format) return Error{ErrorCode::notFound, "the store holds no ledger", ""};
  return *format;
}

std::string shown(const StoredEntry& e, const LedgerFormat& format, bool json) {
  return json ? entryJson(e.entry, format.invariants) : entryStory(e.entry);
}

Status tail(const LedgerArguments& a) {
  WITAN_TRY(store, openStoreOnly(a.store));
  WITAN_TRY(format, formatOf(*store));
  const auto takes = [&](const StoredEntry& e) { return a.entity.empty() || e.entry.entity == a.entity; };
  const auto put = [&](const StoredEntry& e) { a.json ? print(shown(e, format, true)) : say(shown(e, format, false)); };
  if (a.count > 0) return visitNewest(*store, a.count, takes, put);
  return forEachEntry(*store, [&](const StoredEntry& e) {
    if (takes(e)) put(e);
    return true;
  });
}

void printEntry(const StoredEntry& e, const LedgerFormat& format, bool json) {
  if (json) return print(entryJson(e.entry, format.invariants));
  say(entryStory(e.entry));
  print("         leaf hash " + toHex(e.leaf));
  if (!e.entry.writes.empty()) say("         writes " + std::string(e.entry.writes));
  for (const auto& f : e.entry.findings)
    say("         finds " + std::string(f.invariant) + ": " + std::string(f.message));
  say("         operation id " + std::string(e.entry.operationId));
  if (!e.entry.runKey.empty())
    print("         run " + toHex(e.entry.runKey) + "\n         plan " + toHex(e.entry.planDigest));
}

Status show(const LedgerArguments& a) {
  WITAN_TRY(store, openStoreOnly(a.store));
  WITAN_TRY(format, formatOf(*store));
  WITAN_TRY(found, visitEntry(*store, a.seq, [&](const StoredEntry& e) { printEntry(e, format, a.json); }));
  if (!found)
    return Error{ErrorCode::notFound, "no entry " + std::to_string(a.seq) + " in the ledger", "see: witan ledger tail"};
  return okStatus();
}

void printReport(const VerifyReport& report, bool json) {
  if (json) {
    std::string out =
        "{\"ok\":" + std::string(report.ok() ? "true" : "false") + ",\"entries\":" + std::to_string(report.entries) +
        ",\"root\":\"" + toHex(report.root) + "\",\"checkpoints\":" + std::to_string(report.checkpoints) +
        ",\"signaturesChecked\":" + (report.signaturesChecked ? "true" : "false") +
        ",\"replayed\":" + (report.replayed ? "true" : "false") +
        ",\"badEntry\":" + (report.badEntry == 0 ? "null" : std::to_string(report.badEntry)) + ",\"problem\":";
    if (report.ok())
      out += "null";
    else
      appendJsonString(out, report.problem);
    print(out + "}");
  } else if (report.ok()) {
    print("ok " + std::to_string(report.entries) + " " + toHex(report.root));
  } else {
    say("bad " + report.problem);
  }
}

Result<bool> verify(const LedgerArguments& a) {
  WITAN_TRY(store, openStoreOnly(a.store));
  WITAN_TRY(format, formatOf(*store));
  VerifyOptions options;
  WITAN_TRY(keyText, readVerifierKey(a.store));
  WITAN_TRY(key, parseVerifierKey(keyText));
  options.checkpointKey = key;
  std::unique_ptr<DomainModule> module;
  if (a.replay) {
    WITAN_TRY(made, domains::makeDomain(format.domain, format.policy, format.counselors));
    module = std::move(made);
    options.replay = module.get();
  }
  for (const std::string& what : store::keptDamage(std::filesystem::path(a.store) / "db"))
    std::fprintf(stderr, "witan: %s\n", what.c_str());
  WITAN_TRY(report, verifyLedger(*store, options));
  printReport(report, a.json);
  return report.ok();
}

Status exportEntries(const LedgerArguments& a) {
  if (a.to != 0 && a.to < a.from)
    return invalid("--to " + std::to_string(a.to) + " is before --from " + std::to_string(a.from));
  WITAN_TRY(store, openStoreOnly(a.store));
  WITAN_TRY(format, formatOf(*store));
  std::uint64_t last = 0, shown = 0;
  WITAN_DO(forEachEntry(*store, [&](const StoredEntry& e) {
    last = e.seq;
    if (e.seq < a.from) return true;
    if (a.to != 0 && e.seq > a.to) return false;
    print("{\"seq\":" + std::to_string(e.seq) + ",\"leafHash\":\"" + toHex(e.leaf) + "\",\"bytes\":\"" +
          toBase64(e.bytes) + "\",\"entry\":" + entryJson(e.entry, format.invariants) + "}");
    ++shown;
    return true;
  }));
  if (shown == 0 && a.from > 1)  // no failure: whoever fetches what is new may find nothing
    putErr("witan: no entry in this range; the ledger's last is " + std::to_string(last) + "\n");
  return okStatus();
}

// Signs what there is if the key is at hand; else shows the newest.
Result<std::string> currentCheckpoint(const LedgerArguments& a) {
  {
    WITAN_TRY(opened, openStoreDir({.dir = a.store}));
    if (opened.key) WITAN_DO(opened.ledger->checkpoint(*opened.key, SystemClock().now()));
  }
  WITAN_TRY(store, openStoreOnly(a.store));
  WITAN_TRY(note, newestCheckpoint(*store));
  if (!note)
    return Error{ErrorCode::notFound, "the ledger has no signed checkpoint and its key file is gone",
                 "restore ledger.key"};
  return *note;
}

Status checkpoint(const LedgerArguments& a) {
  WITAN_TRY(note, currentCheckpoint(a));
  WITAN_TRY(key, readVerifierKey(a.store));
  if (!a.json) {
    std::fputs(note.c_str(), stdout);
    return okStatus();
  }
  WITAN_TRY(parsed, parseCheckpointText(note.substr(0, note.find("\n\n") + 1)));
  std::string out = "{\"origin\":";
  appendJsonString(out, parsed.origin);
  out += ",\"size\":" + std::to_string(parsed.size) + ",\"root\":\"" + toHex(parsed.root) + "\",\"verifierKey\":";
  appendJsonString(out, key);
  out += ",\"note\":";
  appendJsonString(out, note);
  print(out + "}");
  return okStatus();
}

std::string hashList(const std::vector<Hash>& hashes) {
  std::string out = "[";
  for (std::size_t i = 0; i < hashes.size(); ++i) out += (i ? ",\"" : "\"") + toHex(hashes[i]) + "\"";
  return out + "]";
}

// An inclusion proof of one entry, as a C2SP tlog-proof; or a consistency proof from an earlier size.
Status proof(const LedgerArguments& a) {
  WITAN_TRY(note, currentCheckpoint(a));
  WITAN_TRY(store, openStoreOnly(a.store));
  WITAN_TRY(tree, readTree(*store));
  const std::uint64_t size = tree.size();
  if (a.consistencyFrom != 0) {
    if (a.seq != 0) return invalid("a number and --consistency-from ask for two different proofs", "give one of them");
    if (a.consistencyFrom > size)
      return Error{ErrorCode::notFound,
                   "the ledger has " + std::to_string(size) + " entries, no " + std::to_string(a.consistencyFrom), ""};
    WITAN_TRY(path, consistencyProof(a.consistencyFrom, size, tree));
    WITAN_TRY(first, rootAt(a.consistencyFrom, tree));
    print("{\"first\":" + std::to_string(a.consistencyFrom) + ",\"second\":" + std::to_string(size) +
          ",\"firstRoot\":\"" + toHex(first) + "\",\"secondRoot\":\"" + toHex(tree.root()) +
          "\",\"path\":" + hashList(path) + "}");
    return okStatus();
  }
  if (a.seq == 0 || a.seq > size)
    return Error{ErrorCode::notFound, "no entry " + std::to_string(a.seq) + " in the ledger of " + std::to_string(size),
                 "see: witan ledger tail"};
  WITAN_TRY(path, inclusionProof(a.seq - 1, size, tree));
  WITAN_TRY(leaf, tree.subtree(0, a.seq - 1));
  if (a.json) {
    std::string out = "{\"seq\":" + std::to_string(a.seq) + ",\"index\":" + std::to_string(a.seq - 1) +
                      ",\"size\":" + std::to_string(size) + ",\"leafHash\":\"" + toHex(leaf) +
                      "\",\"path\":" + hashList(path) + ",\"root\":\"" + toHex(tree.root()) + "\",\"checkpoint\":";
    appendJsonString(out, note);
    print(out + "}");
    return okStatus();
  }
  print("c2sp.org/tlog-proof@v1");
  print("index " + std::to_string(a.seq - 1));
  for (const Hash& hash : path) print(toBase64(asView(hash)));
  print("");
  std::fputs(note.c_str(), stdout);
  return okStatus();
}

}  // namespace

void addLedgerCommand(Command& app, int& exitCode) {
  auto a = std::make_shared<LedgerArguments>();
  Command* ledger = app.command("ledger", "Read, verify, export and prove a ledger");
  ledger->requireCommand();
  ledger->footer("Example: witan ledger verify --store DIR --replay");
  const auto verb = [&](const char* name, const char* what, const char* example, auto run) {
    Command* command = ledger->command(name, what);
    command->option("--store", a->store, "Directory of a ledger that `witan run` keeps");
    command->flag("--json", a->json, "JSON output");
    command->footer(std::string("Example: ") + example);
    command->callback([a, run, &exitCode] {
      if (a->store.empty()) {
        exitCode = reportUsage(invalid("--store is missing", "the directory of a ledger"), a->json);
        return;
      }
      Status status = run(*a);
      exitCode = status.ok() ? kExitOk : reportError(status.error(), a->json);
    });
    return command;
  };
  // Those that also know a node's ledgers.
  const auto alsoLive = [&](Command* command) {
    command->option("--dir", a->dir,
                    "Data directory of a node, running or not, or of `witan agent run`; default $WITAN_DIR, else "
                    "$XDG_DATA_HOME/witan");
  };
  const auto liveOf = [](const LedgerArguments& args) {
    return LiveLedger{args.dir, args.entity, args.domain, args.partition, args.count,
                      args.seq, args.follow, args.replay, args.json};
  };
  Command* tailCommand =
      verb("tail", "The last decisions, oldest first", "witan ledger tail --store DIR --entity David -n 0", tail);
  tailCommand->option("-n,--count", a->count, "How many; 0 for all")->showDefault()->check(wholeNumber());
  tailCommand->option("--entity", a->entity, "Of this entity only");
  tailCommand->option("--domain", a->domain, "Of this domain only; of a node");
  tailCommand->option("--partition", a->partition, "Of this partition only (DOMAIN/NUMBER); of a node");
  tailCommand->flag("-f,--follow", a->follow, "Go on as entries come; of a running node");
  alsoLive(tailCommand);
  tailCommand->callback([a, liveOf, &exitCode] {
    if (a->store.empty()) {
      exitCode = liveTail(liveOf(*a));
      return;
    }
    Status status = tail(*a);
    exitCode = status.ok() ? kExitOk : reportError(status.error(), a->json);
  });
  Command* showCommand = verb("show", "One decision", "witan ledger show 7 --store DIR", show);
  showCommand->option("seq", a->seq, "Its number")->required()->check(wholeNumber(1));
  showCommand->option("--partition", a->partition, "In which ledger of a data directory, if several have it");
  alsoLive(showCommand);
  showCommand->callback([a, liveOf, &exitCode] {
    if (a->store.empty()) {
      exitCode = liveShow(liveOf(*a));
      return;
    }
    Status status = show(*a);
    exitCode = status.ok() ? kExitOk : reportError(status.error(), a->json);
  });
  Command* verifyCommand =
      verb("verify", "Check the whole ledger: prints `ok <entries> <root>` or names the first bad entry",
           "witan ledger verify --store DIR --replay", [](const LedgerArguments&) { return okStatus(); });
  verifyCommand->flag("--replay", a->replay, "Make every decision again and compare");
  alsoLive(verifyCommand);
  verifyCommand->callback([a, liveOf, &exitCode] {
    if (a->store.empty()) {
      exitCode = liveVerify(liveOf(*a));
      return;
    }
    auto good = verify(*a);
    exitCode = !good ? reportError(good.error(), a->json) : *good ? kExitOk : kExitFailed;
  });
  Command* exportCommand = verb("export", "Entries as JSON Lines (docs/ledger-format.md)",
                                "witan ledger export --store DIR > ledger.jsonl", exportEntries);
  exportCommand->option("--from", a->from, "First number")->showDefault()->check(wholeNumber(1));
  exportCommand->option("--to", a->to, "Last number; 0 for the end")->showDefault()->check(wholeNumber());
  verb("checkpoint", "The signed checkpoint (C2SP tlog-checkpoint)", "witan ledger checkpoint --store DIR", checkpoint);
  Command* proofCommand =
      verb("proof", "Proof that an entry is in the ledger, or that an earlier ledger is a prefix of it",
           "witan ledger proof 7 --store DIR; witan ledger proof --consistency-from 5 --store DIR", proof);
  proofCommand->option("seq", a->seq, "Number of the entry")->check(wholeNumber(1));
  proofCommand->option("--consistency-from", a->consistencyFrom, "Size of the earlier ledger")->check(wholeNumber(1));
  proofCommand->requireOptions(2);
}

}  // namespace witan::node
