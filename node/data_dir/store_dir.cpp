#include "node/data_dir/store_dir.h"

#include <set>

#include "base/bytes.h"
#include "domains/registry.h"
#include "kernel/ledger/ledger_verify.h"
#include "kernel/ledger/ledger_versions.h"
#include "kernel/record/signed_note.h"
#include "node/data_dir/replica_dir.h"
#include "program/durable_file.h"
#include "replica/core/log_head.h"
#include "rules/domain/versions.h"
#include "store/rocks_store.h"

namespace witan::node {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kKeyFileMax = 4096;
constexpr std::size_t kNoteFileMax = 64 * 1024;
constexpr const char* kSignedFile = "ledger.signed";

Result<std::optional<std::string>> readFile(const fs::path& path) {
  WITAN_TRY(text, readSmallFile(path, kKeyFileMax));
  if (!text) return text;
  return std::optional(std::string(chomped(*text)));
}

Result<std::optional<SigningKey>> loadKey(const fs::path& dir, bool create) {
  const fs::path path = dir / "ledger.key";
  WITAN_TRY(text, readFile(path));
  if (text) {
    auto seed = fromHex(*text);
    auto key = seed ? SigningKey::fromSeed(*seed) : Result<SigningKey>(seed.error());
    if (!key)
      return corrupt("the key file " + path.string() + " holds no Ed25519 seed in hex", "restore it from a copy");
    return std::optional(*key);
  }
  if (!create) return std::optional<SigningKey>();
  SystemRandom random;
  SigningKey key = SigningKey::generate(random);
  const std::string seed = key.seed();
  WITAN_DO(replaceFile(path, toHex({reinterpret_cast<const std::uint8_t*>(seed.data()), seed.size()}) + "\n", 0600));
  return std::optional(key);
}

std::string originOf(const SigningKey& key) {
  const PublicKey pub = key.publicKey();
  return "witan/" + toHex(sha256({reinterpret_cast<const char*>(pub.data()), pub.size()})).substr(0, 16);
}

}  // namespace

Result<std::unique_ptr<store::Store>> openStoreOnly(const fs::path& dir) {
  std::error_code ec;
  if (!fs::exists(dir / "db", ec))
    return notFound("no ledger in " + dir.string(),
                    "make one with: witan run --domain NAME --events FILE --store " + dir.string());
  return store::openRocksStore(dir / "db", {.createIfMissing = false});
}

Result<std::string> readVerifierKey(const fs::path& dir) {
  WITAN_TRY(text, readFile(dir / "ledger.vkey"));
  if (!text) return notFound("no verifier key in " + dir.string(), "restore ledger.vkey from a copy");
  return *text;
}

Result<std::vector<kernel::NoteVerifier>> readVerifierKeys(const std::vector<std::string>& files) {
  std::vector<kernel::NoteVerifier> keys;
  for (const std::string& file : files) {
    WITAN_TRY(text, readFile(file));
    if (!text)
      return Error{ErrorCode::notFound, "no file " + file, "--vkey takes a copy of ledger.vkey or device.vkey"};
    for (std::string_view rest = *text; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      auto key = kernel::parseVerifierKey(line);
      if (!key) return corrupt(file + ": " + key.error().message);
      keys.push_back(*std::move(key));
    }
  }
  return keys;
}

Result<kernel::SignedHead> readSignedHead(const fs::path& file, std::span<const kernel::NoteVerifier> keys,
                                          std::size_t require) {
  WITAN_TRY(text, readSmallFile(file, kNoteFileMax));
  if (!text) return Error{ErrorCode::notFound, "no file " + file.string(), ""};
  auto opened = kernel::openNote(*text, keys);
  if (!opened) return corrupt(file.string() + ": " + opened.error().message);
  // A head is of its log's key, and cosignatures are of anybody's: another device's signature counts for nothing.
  const std::string_view origin = std::string_view(opened->text).substr(0, opened->text.find('\n'));
  std::set<std::string> names;
  for (const kernel::NoteVerifier& key : opened->verifiedBy)
    if (key.type == kernel::NoteKeyType::cosignature || signsLog(key, origin)) names.insert(key.name);
  // Any one device can cosign what it likes: without its owner's line a text is no head.
  if (std::ranges::none_of(opened->verifiedBy, [&](const auto& key) { return signsLog(key, origin); }))
    return corrupt(file.string() + ": none of the given keys that signed it is that of its log's owner",
                   "give the owner's as well: --vkey FILE");
  if (names.size() < require)
    return corrupt(
        concat(file.string(), ": ", names.size(), " of the given keys' owners signed it, ", require, " are required"));
  auto checkpoint = kernel::parseCheckpointText(opened->text);
  if (!checkpoint) return corrupt(file.string() + ": " + checkpoint.error().message);
  if (checkpoint->origin.starts_with(kernel::kCopyStatement))
    return corrupt(file.string() + ": a device's statement about its copy is no head of a ledger",
                   "take one from: witan ledger checkpoint");
  return kernel::SignedHead{*std::move(checkpoint), "the checkpoint in " + file.string()};
}

Result<std::optional<kernel::SignedHead>> lastSignedHead(const fs::path& dir, const kernel::NoteVerifier& key) {
  std::error_code ec;
  if (!fs::exists(dir / kSignedFile, ec)) return std::optional<kernel::SignedHead>();
  WITAN_TRY(head, readSignedHead(dir / kSignedFile, {&key, 1}));
  return std::optional(std::move(head));
}

Status signHead(StoreDir& opened, Time now) {
  if (!opened.key) return okStatus();
  WITAN_DO(opened.ledger->checkpoint(*opened.key, now));
  WITAN_TRY(newest, opened.store->last("c"));
  WITAN_CHECK(newest.has_value(), "a checkpoint was just stored");
  WITAN_TRY(known, readSmallFile(opened.dir / kSignedFile, kNoteFileMax));
  return known == newest->second ? okStatus() : replaceFile(opened.dir / kSignedFile, newest->second, 0644);
}

Result<kernel::PruneReport> pruneStore(StoreDir& opened, const kernel::Retention& keep, Time now) {
  if (!opened.key)
    return notFound("nothing is pruned without ledger.key, which signs what stands for the entries that go",
                    "restore the key from a copy");
  WITAN_DO(signHead(opened, now));
  kernel::VerifyOptions options{.replay = opened.module.get()};
  WITAN_SET(options.checkpointKey, kernel::parseVerifierKey(opened.verifierKey));
  WITAN_TRY(report, kernel::verifyLedger(*opened.store, options));
  if (!report.ok())
    return corrupt("the ledger does not verify, and nothing was pruned: " + report.problem,
                   "what is wrong in it is evidence: keep a copy");
  opened.ledger.reset();
  return kernel::pruneLog(*opened.store, *opened.module, *opened.key, keep, now);
}

Result<StoreDir> openStoreDir(const StoreDirOptions& options) {
  StoreDir opened;
  opened.dir = options.dir;
  std::error_code ec;
  const bool exists = fs::exists(options.dir / "db", ec);
  if (!exists) {
    if (!options.create) return openStoreOnly(options.dir).error();
    if (fs::exists(options.dir / "cluster.json", ec) || fs::exists(options.dir / "replica.json", ec))
      return conflict(options.dir.string() + " is the data directory of a node", "give the ledger a folder of its own");
    // Nothing is made for a domain or policy that is refused.
    WITAN_TRY(domain, domains::makeDomain(options.domain.value_or(""), options.policy.value_or(json::object{}),
                                          options.counselors));
    (void)domain;
    WITAN_DO(makeFolder(options.dir));
  }
  WITAN_TRY(store, store::openRocksStore(options.dir / "db", {.createIfMissing = options.create}));
  opened.store = std::move(store);
  WITAN_TRY(format, kernel::Ledger::readFormat(*opened.store));
  if (!format && !options.create) return notFound("no ledger in " + options.dir.string());
  // What is not given is as the ledger began.
  kernel::LedgerFormat wanted = format.value_or(kernel::LedgerFormat{});
  if (options.domain && *options.domain != wanted.domain) {
    wanted.domain = *options.domain;
    wanted.rules.clear();
    wanted.policy = {};
  }
  if (options.policy) wanted.policy = *options.policy;
  if (!options.counselors.empty()) wanted.counselors = options.counselors;
  WITAN_TRY(module, domains::domainOf(wanted));
  opened.module = std::move(module);
  WITAN_TRY(key, loadKey(options.dir, !format.has_value()));
  opened.key = std::move(key);
  kernel::LedgerOptions ledgerOptions;
  ledgerOptions.partition = options.partition;
  if (opened.key) {
    ledgerOptions.origin = originOf(*opened.key);
    if (format && format->origin != ledgerOptions.origin)
      return corrupt("ledger.key in " + options.dir.string() + " is not the key that this ledger began with",
                     "restore the key from a copy");
    WITAN_TRY(verifier, kernel::makeNoteVerifier(ledgerOptions.origin, opened.key->publicKey()));
    WITAN_TRY(head, lastSignedHead(options.dir, verifier));
    ledgerOptions.signedHead = std::move(head);
  }
  WITAN_DO(kernel::continueLedger(*opened.store, *opened.module, [&](const kernel::LedgerFormat& existing) {
    return rules::continuesRules(existing.rules, existing.policy, *opened.module);
  }));
  WITAN_TRY(ledger, kernel::Ledger::open(*opened.store, *opened.module, ledgerOptions));
  opened.ledger = std::move(ledger);
  if (opened.key) {
    WITAN_TRY(verifier, kernel::makeNoteVerifier(opened.ledger->format().origin, opened.key->publicKey()));
    opened.verifierKey = kernel::verifierKeyText(verifier);
    WITAN_TRY(known, readFile(options.dir / "ledger.vkey"));
    if (!known || *known != opened.verifierKey)
      WITAN_DO(replaceFile(options.dir / "ledger.vkey", opened.verifierKey + "\n", 0644));
  }
  return opened;
}

}  // namespace witan::node
