// `witan ledger tail|show|verify|export|checkpoint|proof|prune`.
#include <filesystem>
#include <functional>

#include "base/bytes.h"
#include "base/seams.h"
#include "base/string_util.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "cli/ledgers/ledger_source.h"
#include "cli/ledgers/node_ledgers.h"
#include "node/data_dir/store_dir.h"
#include "node/ledgers/ledger_reader.h"
#include "node/ledgers/ledger_tiles.h"
#include "program/durable_file.h"
#include "program/option_checks.h"

namespace witan::node {

using namespace kernel;

namespace {

constexpr std::size_t kMostNewest = 10'000;

struct LedgerArguments : LedgerChoice {
  VerifyChoice how;
  std::string exported;  // file
  std::string tiles;     // folder
  bool follow = false, json = false, signedOnly = false;
  std::size_t count = 20;
  std::uint64_t seq = 0, from = 1, to = 0, consistencyFrom = 0;
  Retention keep;
};

// --- of any ledger

// Works on the source that the arguments name.
template <class Work>
Result<int> onSource(const LedgerArguments& a, Work work) {
  WITAN_TRY(source, LedgerSource::open(a));
  const Result<int> code = work(*source);
  WITAN_DO(source->close());
  return code;
}

Result<int> tail(const LedgerArguments& a) {
  if (a.store.empty() && a.count > kMostNewest)
    return reportUsage(invalid(concat("-n ", a.count, ": the newest ", kMostNewest, " at most"), "0 for all"), a.json);
  const auto put = [&](const LedgerLine& line) {
    a.json ? putWords(line.json + "\n")
           : putWords((line.partition.empty() ? "" : line.partition + " ") + line.story + "\n");
  };
  return onSource(a, [&](LedgerSource& source) -> Result<int> {
    WITAN_DO(source.newest(a.count, put));
    if (!a.follow) return kExitOk;
    std::fflush(stdout);
    WITAN_DO(source.follow([&](const LedgerLine& line) {
      put(line);
      return std::fflush(stdout) == 0;
    }));
    return kExitOk;
  });
}

std::string detailsOf(const LedgerLine& line) {
  const json::value parsed = parseJson(line.json, kOwnJson).value();
  const json::value* inner = parsed.get_object().if_contains("entry");
  const json::value& entry = inner == nullptr ? parsed : *inner;
  const auto row = [&](const char* words, const char* member) {
    return shown(entry, member) == "-" ? "" : concat("         ", words, " ", shown(entry, member), "\n");
  };
  std::string text = "         leaf hash " + line.leafHash + "\n" + row("writes", "writes");
  for (const json::value& finding : rowsOf(entry, "findings"))
    text += "         finds " + shown(finding, "invariant") + ": " + shown(finding, "message") + "\n";
  if (shown(parsed, "holder") != "-")
    text += concat("         asked from device ", shown(parsed, "holder"), ", and proven by a cosigned head\n");
  return text + row("operation id", "operationId") + row("run", "runKey") + row("plan", "planDigest");
}

Result<int> show(const LedgerArguments& a) {
  return onSource(a, [&](LedgerSource& source) -> Result<int> {
    const std::string seq = std::to_string(a.seq);
    WITAN_TRY(found, source.numbered(a.seq));
    if (found.empty())
      return notFound("no entry " + seq + " in " + (a.partition.empty() ? "the ledger" : a.partition),
                      "see: witan ledger tail");
    if (found.size() > 1) {
      std::vector<std::string> several;
      for (const LedgerLine& line : found) several.push_back(line.partition);
      return conflict("several ledgers have an entry " + seq + ": " + joined(several), "choose one with --partition");
    }
    const LedgerLine& line = found.front();
    a.json ? putWords(line.json + "\n")
           : putWords((line.partition.empty() ? "" : line.partition + " ") + line.story + "\n" + detailsOf(line));
    return kExitOk;
  });
}

std::string verdict(const json::value& report) {
  const std::string whole = concat("ok ", shown(report, "entries"), " ", shown(report, "root"));
  const auto from = [](const json::value& ledger) {
    return concat(" from entry ", ledger.at("prunedEntries").to_number<std::uint64_t>() + 1,
                  " on; those before it are pruned, and checked by their tiles alone\n");
  };
  if (isTrue(report, "ok")) {
    std::string text = whole + (shown(report, "prunedEntries") == "-" ? "\n" : from(report));
    for (const json::value& ledger : rowsOf(report, "ledgers"))
      if (shown(ledger, "prunedEntries") != "-") text += shown(ledger, "partition") + from(ledger);
    return text;
  }
  if (shown(report, "problem") != "-") return "bad " + shown(report, "problem") + "\n";
  std::string text;
  for (const json::value& ledger : rowsOf(report, "ledgers"))
    if (shown(ledger, "problem") != "-")
      text += "bad " + shown(ledger, "partition") + ": " + shown(ledger, "problem") + "\n";
  return text;
}

// What no signature vouches for.
void noteUnsigned(const json::value& report) {
  const json::value* covered = report.get_object().if_contains("signedEntries");
  if (covered == nullptr || !isTrue(report, "ok") || *covered == report.at("entries")) return;
  putErr("witan: no checked signature covers the entries after " + shown(report, "signedEntries") + "\n");
}

Result<int> verify(const LedgerArguments& a) {
  if (!a.exported.empty()) {
    WITAN_TRY(report, verifyExportFile(a.exported, a.how));
    (void)print(report, a.json, verdict);
    noteUnsigned(report);
    return isTrue(report, "ok") ? kExitOk : kExitFailed;
  }
  return onSource(a, [&](LedgerSource& source) -> Result<int> {
    WITAN_TRY(report, source.verify(a.how));
    (void)print(report, a.json, verdict);
    noteUnsigned(report);
    return isTrue(report, "ok") ? kExitOk : kExitFailed;
  });
}

// --- of one ledger

// Works on the ledgers of a data directory.
template <class Work>
Result<int> onNode(const LedgerArguments& a, Work work) {
  WITAN_TRY(source, NodeLedgers::open(a));
  const auto done = [&]() -> Result<int> {
    WITAN_TRY(partition, source->partition());
    return work(*source, partition);
  }();
  WITAN_DO(source->close());
  return done;
}

std::string exportLine(std::uint64_t seq, std::string_view leaf, std::string_view bytes, std::string_view entry) {
  return concat("{\"seq\":", seq, ",\"leafHash\":\"", leaf, "\",\"bytes\":\"", bytes, "\",\"entry\":", entry, "}\n");
}

// Errors: notFound, the entry was pruned.
Status checkStands(const store::Reader& store, std::uint64_t seq) {
  WITAN_TRY(pruned, prunedLog(store));
  return pruned && seq <= pruned->entries ? Status(isPruned(*pruned)) : okStatus();
}

// Signs what there is if the key is at hand; else shows the newest.
Result<std::string> currentCheckpoint(const LedgerArguments& a) {
  {
    WITAN_TRY(opened, openStoreDir({.dir = a.store}));
    WITAN_DO(signHead(opened, SystemClock().now()));
  }
  WITAN_TRY(store, openStoreOnly(a.store));
  WITAN_TRY(note, newestCheckpoint(*store));
  if (!note) return notFound("the ledger has no signed checkpoint and its key file is gone", "restore ledger.key");
  return *note;
}

// Writes files; those of whole tiles never change.
TileWriter tilesInto(const std::filesystem::path& folder) {
  return TileWriter([folder](const std::string& path, std::string_view content) -> Status {
    const std::filesystem::path file = folder / path;
    std::error_code ec;
    std::filesystem::create_directories(file.parent_path(), ec);
    return replaceFile(file, content, 0644);
  });
}

// The tree ends where its checkpoint does, whatever came since.
Status writeTiles(const std::filesystem::path& folder, const std::string& note,
                  const std::function<Status(std::uint64_t size, TileWriter& tiles)>& entries) {
  WITAN_TRY(head, parseCheckpointText(note.substr(0, note.find("\n\n") + 1)));
  TileWriter tiles = tilesInto(folder);
  WITAN_DO(entries(head.size, tiles));
  WITAN_DO(tiles.finish());
  WITAN_DO(replaceFile(folder / "checkpoint", note, 0644));
  putErr(concat("witan: ", head.size, " entries of ", head.origin, " in ", folder.string(), "\n"));
  return okStatus();
}

Result<int> tilesOfNode(const LedgerArguments& a) {
  return onNode(a, [&](NodeLedgers& source, const std::string& partition) -> Result<int> {
    WITAN_TRY(head, source.head(partition, false));
    const auto entries = [&](std::uint64_t size, TileWriter& tiles) -> Status {
      Status added = okStatus();
      WITAN_DO(source.exported(partition, 1, size, [&](const json::value& row) {
        const auto bytes = fromBase64(shown(row, "bytes"));
        if (added.ok()) added = bytes.ok() ? tiles.append(*bytes) : Status(bytes.error());
      }));
      return added;
    };
    WITAN_DO(writeTiles(a.tiles, head.note, entries));
    return kExitOk;
  });
}

Result<int> exportTiles(const LedgerArguments& a) {
  if (a.from != 1 || a.to != 0)
    return reportUsage(invalid("tiles are of a whole ledger: --from and --to do not go with --tiles"), a.json);
  if (a.store.empty()) return tilesOfNode(a);
  WITAN_TRY(note, currentCheckpoint(a));
  WITAN_TRY(store, openStoreOnly(a.store));
  WITAN_DO(checkStands(*store, 1));
  const auto entries = [&](std::uint64_t size, TileWriter& tiles) -> Status {
    Status added = okStatus();
    WITAN_DO(forEachEntry(*store, [&](const StoredEntry& e) {
      if (e.seq <= size) added = tiles.append(e.bytes);
      return e.seq < size && added.ok();
    }));
    return added;
  };
  WITAN_DO(writeTiles(a.tiles, note, entries));
  return kExitOk;
}

Result<int> exportOfNode(const LedgerArguments& a) {
  return onNode(a, [&](NodeLedgers& source, const std::string& partition) -> Result<int> {
    WITAN_DO(source.exported(partition, a.from, a.to, [](const json::value& row) {
      putOut(exportLine(row.at("seq").to_number<std::uint64_t>(), shown(row, "leafHash"), shown(row, "bytes"),
                        canonicalJson(row.at("entry"))));
    }));
    return kExitOk;
  });
}

Result<int> exportEntries(const LedgerArguments& a) {
  if (!a.tiles.empty()) return exportTiles(a);
  if (a.to != 0 && a.to < a.from)
    return reportUsage(invalid(concat("--to ", a.to, " is before --from ", a.from)), a.json);
  if (a.store.empty()) return exportOfNode(a);
  WITAN_TRY(store, openStoreOnly(a.store));
  WITAN_TRY(format, Ledger::readFormat(*store));
  if (!format) return notFound("the store holds no ledger");
  WITAN_DO(checkStands(*store, a.from));
  std::uint64_t last = 0, exported = 0;
  WITAN_DO(forEachEntry(*store, [&](const StoredEntry& e) {
    last = e.seq;
    if (e.seq < a.from) return true;
    if (a.to != 0 && e.seq > a.to) return false;
    putOut(exportLine(e.seq, toHex(e.leaf), toBase64(e.bytes), entryJson(e.entry, format->invariants)));
    ++exported;
    return true;
  }));
  if (exported == 0 && a.from > 1)  // no failure: a caller that fetches new entries may find none
    putErr(concat("witan: no entry in this range; the ledger's last is ", last, "\n"));
  return kExitOk;
}

Result<int> checkpoint(const LedgerArguments& a) {
  if (a.store.empty())
    return onNode(a, [&](NodeLedgers& source, const std::string& partition) -> Result<int> {
      WITAN_TRY(head, source.head(partition, a.signedOnly));
      WITAN_TRY(shownHead, parseJson(toJson(head), kOwnJson));
      if (head.cosigners.empty() && head.witnesses.empty())
        putErr("witan: no other device and no witness has cosigned this head\n");
      return print(shownHead, a.json, [&](const json::value&) { return head.note; });
    });
  WITAN_TRY(note, currentCheckpoint(a));
  WITAN_TRY(key, readVerifierKey(a.store));
  WITAN_TRY(parsed, parseCheckpointText(note.substr(0, note.find("\n\n") + 1)));
  return print(json::object{{"origin", parsed.origin},
                            {"size", parsed.size},
                            {"root", toHex(parsed.root)},
                            {"verifierKey", key},
                            {"note", note}},
               a.json, [&](const json::value&) { return note; });
}

json::array hexList(const std::vector<Hash>& hashes) {
  json::array list;
  for (const Hash& hash : hashes) list.emplace_back(toHex(hash));
  return list;
}

std::string tlogProof(std::uint64_t index, const std::vector<std::string>& path, const std::string& note) {
  std::string text = concat("c2sp.org/tlog-proof@v1\nindex ", index, "\n");
  for (const std::string& base64 : path) text += base64 + "\n";
  return text + "\n" + note;
}

// In the tree of the newest cosigned head that covers it, else of the newest signed one.
Result<int> proofOfNode(const LedgerArguments& a) {
  return onNode(a, [&](NodeLedgers& source, const std::string& partition) -> Result<int> {
    const std::uint64_t least = std::max(a.seq, a.consistencyFrom);
    WITAN_TRY(head, source.head(partition, false));
    if (head.size < least) WITAN_SET(head, source.head(partition, true));
    if (head.size < least)
      return Error{ErrorCode::conflict,
                   concat("the newest head covers ", head.size, " of ", head.entries, " entries of ", partition),
                   "its owner signs the rest soon"};
    WITAN_TRY(proof, source.proof(partition, std::max<std::uint64_t>(a.seq, 1), head.size, a.consistencyFrom));
    if (a.consistencyFrom != 0)
      return print(json::object{{"first", a.consistencyFrom},
                                {"second", head.size},
                                {"firstRoot", proof.firstRoot.value_or("")},
                                {"secondRoot", proof.root},
                                {"path", json::value_from(proof.consistency.value_or(std::vector<std::string>{}))}},
                   true, nullptr);
    return print(json::object{{"seq", a.seq},
                              {"index", proof.index},
                              {"size", proof.size},
                              {"leafHash", proof.leafHash},
                              {"path", json::value_from(proof.path)},
                              {"root", proof.root},
                              {"checkpoint", head.note}},
                 a.json, [&](const json::value&) {
                   std::vector<std::string> path;
                   for (const std::string& hex : proof.path) path.push_back(toBase64(*fromHex(hex)));
                   return tlogProof(proof.index, path, head.note);
                 });
  });
}

// An inclusion proof of one entry, as a C2SP tlog-proof; or a consistency proof from an earlier size.
Result<int> proof(const LedgerArguments& a) {
  if (a.seq != 0 && a.consistencyFrom != 0)
    return reportUsage(invalid("a number and --consistency-from ask for two different proofs", "give one of them"),
                       a.json);
  if (a.seq == 0 && a.consistencyFrom == 0)
    return reportUsage(invalid("nothing to prove", "give the number of an entry, or --consistency-from"), a.json);
  if (a.store.empty()) return proofOfNode(a);
  WITAN_TRY(note, currentCheckpoint(a));
  WITAN_TRY(store, openStoreOnly(a.store));
  WITAN_TRY(tree, readTree(*store));
  WITAN_TRY(signedAt, parseCheckpointText(note.substr(0, note.find("\n\n") + 1)));
  const std::uint64_t size = signedAt.size, all = tree.size();
  if (a.consistencyFrom > all) return notFound(concat("the ledger has ", all, " entries, no ", a.consistencyFrom));
  if (a.consistencyFrom == 0 && (a.seq == 0 || a.seq > all))
    return notFound(concat("no entry ", a.seq, " in the ledger of ", all), "see: witan ledger tail");
  if (size > all || std::max(a.seq, a.consistencyFrom) > size)
    return Error{ErrorCode::conflict, concat("the newest signed checkpoint covers ", size, " of ", all, " entries"),
                 "restore ledger.key: the next witan run signs the rest"};
  WITAN_TRY(root, rootAt(size, tree));
  if (a.consistencyFrom != 0) {
    WITAN_TRY(path, consistencyProof(a.consistencyFrom, size, tree));
    WITAN_TRY(first, rootAt(a.consistencyFrom, tree));
    return print(json::object{{"first", a.consistencyFrom},
                              {"second", size},
                              {"firstRoot", toHex(first)},
                              {"secondRoot", toHex(root)},
                              {"path", hexList(path)}},
                 true, nullptr);
  }
  WITAN_TRY(path, inclusionProof(a.seq - 1, size, tree));
  WITAN_TRY(leaf, tree.subtree(0, a.seq - 1));
  return print(json::object{{"seq", a.seq},
                            {"index", a.seq - 1},
                            {"size", size},
                            {"leafHash", toHex(leaf)},
                            {"path", hexList(path)},
                            {"root", toHex(root)},
                            {"checkpoint", note}},
               a.json, [&](const json::value&) {
                 std::vector<std::string> texts;
                 for (const Hash& hash : path) texts.push_back(toBase64(asView(hash)));
                 return tlogProof(a.seq - 1, texts, note);
               });
}

// Copies of a cluster's ledgers prune by themselves: each has to know which of them keep every entry.
Status checkNoNode(const std::filesystem::path& dir) {
  std::error_code ec;
  const std::filesystem::path folder = (dir / "").parent_path();  // without a slash at its end
  for (const auto& at : {folder, folder.filename() == "ledgers" ? folder.parent_path() : folder}) {
    if (std::filesystem::exists(at / "cluster.json", ec))
      return conflict(dir.string() + " is of a node: by hand no ledger of a cluster is pruned",
                      "say what its copies keep, where the admin's key is: witan partition retain DOMAIN --entries N "
                      "--days D");
    if (std::filesystem::exists(at / "replica.json", ec))
      return conflict(dir.string() + " is of witan agent run, whose ledgers keep every entry",
                      "name the ledger of a witan run");
  }
  return okStatus();
}

Result<int> prune(const LedgerArguments& a) {
  if (a.store.empty())
    return reportUsage(invalid("nothing says which ledger",
                               "name one of witan run with --store; of a cluster's ledgers witan "
                               "partition retain says which entries copies keep"),
                       a.json);
  WITAN_DO(checkNoNode(a.store));
  if (a.keep.entries == 0 && a.keep.days == 0)
    return reportUsage(invalid("nothing says what stays", "give --keep, --keep-days, or both"), a.json);
  WITAN_TRY(opened, openStoreDir({.dir = a.store}));
  WITAN_TRY(report, pruneStore(opened, a.keep, SystemClock().now()));
  return print(
      json::object{
          {"pruned", report.pruned - report.before}, {"prunedEntries", report.pruned}, {"entries", report.entries}},
      a.json, [&](const json::value&) {
        return concat(
            "pruned ", report.pruned - report.before, "; entries ", report.pruned + 1, " to ", report.entries,
            " stay, and the hashes of all",
            report.pruned > report.before ? "\n" : " (only whole batches go, and none from an open question on)\n");
      });
}

}  // namespace

void addLedgerCommand(Command& app) {
  const auto a = std::make_shared<LedgerArguments>();
  Command* ledger =
      app.noun("ledger", "Read, verify, export and prove a ledger", "witan ledger verify --store DIR --replay");
  using Work = Result<int> (*)(const LedgerArguments&);
  const auto verb = [&](const char* name, const char* about, const char* example, Work work) {
    Command* command = ledger->command(name, about);
    command->option("--store", a->store, "Directory of a ledger that `witan run` keeps");
    command->flag("--json", a->json, "JSON output");
    command->footer(concat("Example: ", example));
    runs(command, a, work);
    return command;
  };
  // The verbs that also know the ledgers of a data directory.
  const auto anyVerb = [&](const char* name, const char* about, const char* example, Work work) {
    Command* command = verb(name, about, example, work);
    command->option("--dir", a->dir,
                    "Data directory of a node, running or not, or of `witan agent run`; default $WITAN_DIR, else "
                    "$XDG_DATA_HOME/witan");
    return command;
  };
  // The verbs that work on one ledger.
  const auto oneVerb = [&](const char* name, const char* about, const char* example, Work work) {
    Command* command = anyVerb(name, about, example, work);
    command->option("--partition", a->partition,
                    "Which ledger of a data directory (DOMAIN/NUMBER), if several have entries");
    return command;
  };
  Command* tailing = anyVerb("tail", "Print the last decisions, oldest first",
                             "witan ledger tail --store DIR --entity David -n 0", tail);
  tailing->option("-n,--count", a->count, "How many; 0 for all")->showDefault()->check(wholeNumber());
  tailing->option("--entity", a->entity, "Of this entity only");
  tailing->option("--domain", a->domain, "Of this domain only; of a node");
  tailing->option("--partition", a->partition, "Of this partition only (DOMAIN/NUMBER); of a node");
  tailing->flag("-f,--follow", a->follow, "Go on as entries come; of a running node");
  Command* showing = anyVerb("show", "Print one decision", "witan ledger show 7 --store DIR", show);
  showing->option("seq", a->seq, "Its number")->required()->check(wholeNumber(1));
  showing->option("--partition", a->partition, "In which ledger of a data directory, if several have it");
  Command* verifying =
      anyVerb("verify", "Check the whole ledger: prints `ok <entries> <root>` or names the first bad entry",
              "witan ledger verify --store DIR --replay", verify);
  verifying->flag("--replay", a->how.replay, "Make every decision again and compare");
  verifying->option("--export", a->exported, "File of `witan ledger export`, instead of a ledger");
  verifying->option("--vkey", a->how.vkeys,
                    "File of verifier keys that you keep (ledger.vkey, device.vkey); default the store's ledger.vkey");
  verifying->option("--checkpoint", a->how.checkpoints,
                    "File of a checkpoint that you keep and the ledger must extend");
  verifying->option("--require", a->how.require, "How many of the keys' owners must have signed each checkpoint")
      ->showDefault()
      ->check(wholeNumber(1));
  verifying->flag("--signed", a->how.requireSigned, "Fail if a checked signature does not cover every entry");
  Command* exporting = oneVerb("export", "Print entries as JSON Lines (docs/ledger-format.md)",
                               "witan ledger export --store DIR > ledger.jsonl", exportEntries);
  exporting->option("--from", a->from, "First number")->showDefault()->check(wholeNumber(1));
  exporting->option("--to", a->to, "Last number; 0 for the end")->showDefault()->check(wholeNumber());
  exporting->option("--tiles", a->tiles, "Write C2SP tlog-tiles, with the checkpoint, into this folder instead")
      ->typeName("DIR");
  oneVerb("checkpoint", "Print the signed checkpoint (C2SP tlog-checkpoint), of a node with its cosignatures",
          "witan ledger checkpoint --store DIR", checkpoint)
      ->flag("--signed-only", a->signedOnly, "Of a node: the newest, though no other device has cosigned it");
  Command* proving =
      oneVerb("proof", "Prove that an entry is in the ledger, or that an earlier ledger is a prefix of it",
              "witan ledger proof 7 --store DIR; witan ledger proof --consistency-from 5 --store DIR", proof);
  proving->option("seq", a->seq, "Number of the entry")->check(wholeNumber(1));
  proving->option("--consistency-from", a->consistencyFrom, "Size of the earlier ledger")->check(wholeNumber(1));
  Command* pruning =
      verb("prune", "Verify a ledger, then take its old entries out, but for their hashes and what they add up to",
           "witan ledger export --store DIR > old.jsonl && witan ledger prune --store DIR --keep-days 365", prune);
  pruning->option("--keep", a->keep.entries, "Keep the newest so many entries")->check(wholeNumber(1));
  pruning->option("--keep-days", a->keep.days, "Keep the entries whose time is not so many days ago")
      ->check(wholeNumber(1));
}

}  // namespace witan::node
