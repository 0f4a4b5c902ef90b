#include "node/daemon/published_files.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/quote.h"
#include "node/cluster/device_key.h"
#include "node/daemon/agent_files.h"
#include "node/data_dir/node_dir.h"
#include "node/events/rule_check.h"
#include "node/market/market_identity.h"
#include "program/durable_file.h"
#include "replication/records/record_write.h"
#include "replication/records/signed_document.h"
#include "rules/domain/rule_module.h"
#include "rules/domain/versions.h"

namespace witan::node {

namespace fs = std::filesystem;

using replication::DatabaseName;
using replication::DocumentKind;
using replication::SignedDocumentBody;

namespace {

constexpr std::string_view kAgentEnding = ".agent.toml", kRulesEnding = ".domain.toml";
// The market keeps its statements in a domain of this name (node/market/market_runs.h).
constexpr std::string_view kMarketRules = "evidence.domain.toml";
constexpr std::size_t kMostNameBytes = 128;

bool isAgentName(std::string_view name) { return name.ends_with(kAgentEnding); }

std::string nameIn(std::string_view key) { return std::string(key.substr(0, key.find('/'))); }

std::string domainIn(std::string_view name) { return std::string(name.substr(0, name.size() - kRulesEnding.size())); }

fs::path placeOf(const fs::path& dir, const std::string& name) {
  return isAgentName(name) ? dir / "agents" / name : ruleFilePath(dir, domainIn(name));
}

// The keys that have signed for the cluster, the present one first.
std::vector<PublicKey> adminsOf(const RosterStore& rosters) {
  std::vector<PublicKey> keys{rosters.admins().signer};
  const auto add = [&](const Result<PublicKey>& key) {
    if (key.ok() && *key != keys.front()) keys.push_back(*key);
  };
  add(rosters.admin());
  for (const AdminAct& act : rosters.current().allActs())
    if (act.kind == ActKind::signer) add(publicKeyFromHex(act.subject, "subject"));
  return keys;
}

// A key that was stolen may have used the numbers up: its successor counts anew.
std::uint64_t versionAfter(const PublishedFile& before) { return before.former ? 1 : before.version + 1; }

Status checkName(const std::string& name) {
  if (name.find('/') == name.npos && name.size() <= kMostNameBytes) return okStatus();
  return invalid(inQuotes(name.substr(0, kMostNameBytes)) + " is no name of a file",
                 concat("at most ", kMostNameBytes, " bytes, no /"));
}

// Whether rules may take the place of others of their name.
Status mayFollow(const std::string& known, const std::string& text, const std::string& name) {
  WITAN_TRY(module, rules::makeRuleModule(text, name));
  return rules::continuesRules(known, {}, *module);
}

}  // namespace

// What a start asks of the file by itself, said once (AgentFiles, mayInstall), and that it is what its name says.
Status PublishedFiles::mayCome(const PublishedFile& file) const {
  const std::string& name = file.name;
  WITAN_DO(checkName(name));
  if (isAgentName(name)) return AgentFiles::check(*file.text, name, config_.tools);
  if (!name.ends_with(kRulesEnding))
    return invalid(inQuotes(name) + " is neither an agent nor rules", "ID.agent.toml or DOMAIN.domain.toml");
  if (name == kMarketRules) return conflict(name + ": the market has the domain of this name", "another name");
  WITAN_TRY(module, rules::makeRuleModule(*file.text, name));
  if (module->signature().domain + std::string(kRulesEnding) != name)
    return invalid(concat(name, ": its domain is ", inQuotes(module->signature().domain)),
                   concat("the file must be named ", module->signature().domain, kRulesEnding));
  if (const Status may = mayInstall(*module); !may.ok())
    return Error{may.error().code, concat(name, ": ", may.error().message), may.error().hint};
  return okStatus();
}

Result<PublishedFiles::Found> PublishedFiles::find(const std::string& name) {
  Found found;
  replication::Space* space = replica_.database(DatabaseName::agents).find(config_.scope);
  if (space == nullptr) return found;
  std::vector<replication::Version> all;
  for (const std::string& key : space->keys(replication::Kind::policy)) {
    if (nameIn(key) != name) continue;
    WITAN_TRY(versions, space->versions(replication::Kind::policy, key));
    all.insert(all.end(), versions.begin(), versions.end());
  }
  const std::vector<PublicKey> admins = adminsOf(rosters_);
  const auto view = replication::documentViewOf(DocumentKind::policy, name, admins.front(), all);
  for (const replication::Unreadable& one : view.unreadable)
    found.refused.push_back(concat(name, ": a version counts for nothing: ", one.why));
  if (!view.current) return found;
  WITAN_SET(found.document, replication::encodeRecord(view.current->document));
  if (auto file = readPublished(found.document, name, admins); file.ok()) found.file = *std::move(file);
  return found;
}

std::set<std::string> PublishedFiles::names() {
  std::set<std::string> all;
  if (replication::Space* space = replica_.database(DatabaseName::agents).find(config_.scope))
    for (const std::string& key : space->keys(replication::Kind::policy))
      if (!key.ends_with(kPassDocuments)) all.insert(nameIn(key));
  return all;
}

Result<std::optional<PublishedFile>> PublishedFiles::kept(const std::string& name) const {
  return keptPublished(dir_, name, adminsOf(rosters_));
}

Result<PublishedFile> PublishedFiles::latest(const std::string& name) {
  WITAN_TRY(known, find(name));
  WITAN_TRY(kept, this->kept(name));
  PublishedFile none{name, 0, std::nullopt};
  const PublishedFile &there = known.file ? *known.file : none, &here = kept ? *kept : none;
  return there.version >= here.version || (known.file && here.former) ? there : here;
}

Result<bool> PublishedFiles::decidedUnder(const std::string& name) const {
  return isAgentName(name) ? Result<bool>(false) : holdsEntries(ledgers_, domainIn(name));
}

Result<PublishedFile> PublishedFiles::write(PublishedFile file, const SigningKey& admin) {
  SignedDocumentBody body{
      .kind = DocumentKind::policy, .name = file.name, .version = file.version, .content = publishedContent(file.text)};
  WITAN_TRY(document, replication::sign(std::move(body), admin));
  const std::string key = concat(file.name, "/", toHex(replication::documentDigest(document)).substr(0, 32));
  WITAN_TRY(write, replication::recordWrite(key, document));
  WITAN_DO(replica_.commit(DatabaseName::agents, config_.scope, {&write, 1}));
  return file;
}

Result<PublishedFile> PublishedFiles::publish(const std::string& name, const std::string& text,
                                              const SigningKey& admin) {
  PublishedFile file{name, 0, text};
  WITAN_DO(mayCome(file));
  WITAN_TRY(before, latest(name));
  if (!isAgentName(name)) {
    WITAN_TRY(there, readSmallFile(placeOf(dir_, name), replication::kMaxRecordBytes));
    for (const auto& known : {there, before.text})
      if (known && *known != text) WITAN_DO(mayFollow(*known, text, name));
  }
  file.version = versionAfter(before);
  return write(std::move(file), admin);
}

Result<PublishedFile> PublishedFiles::withdraw(const std::string& name, const SigningKey& admin) {
  WITAN_DO(checkName(name));
  WITAN_TRY(before, latest(name));
  if (!before.text) return notFound(inQuotes(name) + " is not published", "see: witan publish");
  WITAN_TRY(decided, decidedUnder(name));
  if (decided) return conflict("ledgers are of the rules in " + inQuotes(name), "they stay: the ledgers need them");
  return write({name, versionAfter(before), std::nullopt}, admin);
}

// The document comes first: a file without it does not count where only published ones do.
Result<std::string> PublishedFiles::takeIn(const PublishedFile& file, const std::string& document) {
  if (!file.text) return takeAway(file, document);
  if (const Status good = mayCome(file); !good.ok()) {
    const std::string words =
        concat(file.name, ", version ", file.version, " of the cluster's admin (",
               fingerprintOf(rosters_.admins().signer), "), does not come in: ", good.error().message);
    replica_.note({kLeftOut, "", words});
    return words;
  }
  const fs::path place = placeOf(dir_, file.name);
  WITAN_TRY(there, readSmallFile(place, replication::kMaxRecordBytes));
  if (!isAgentName(file.name) && there && *there != *file.text)
    if (const Status may = mayFollow(*there, *file.text, file.name); !may.ok())
      return concat(file.name, " was published, but other rules are installed here under this name, and stay: ",
                    may.error().message);
  WITAN_DO(makeFolder(dir_ / "published"));
  WITAN_DO(makeFolder(place.parent_path()));
  WITAN_DO(replaceFile(publishedPath(dir_, file.name), document, 0644));
  if (isAgentName(file.name)) WITAN_DO(AgentFiles::keep(dir_, *file.text));
  if (there && *there == *file.text) return concat(file.name, " is published as it is here");
  WITAN_DO(replaceFile(place, *file.text, 0644));
  return concat(
      file.name, " has come, version ", file.version,
      isAgentName(file.name) ? ": the node has it from its next start on" : ": the node begins again with it");
}

// Only what came by itself goes by itself.
Result<std::string> PublishedFiles::takeAway(const PublishedFile& file, const std::string& document) {
  WITAN_TRY(decided, decidedUnder(file.name));
  if (decided) return file.name + " was withdrawn, but ledgers here are of its rules, and it stays";
  const fs::path place = placeOf(dir_, file.name);
  WITAN_TRY(there, readSmallFile(place, replication::kMaxRecordBytes));
  WITAN_TRY(kept, this->kept(file.name));
  const bool own = there && (!kept || kept->text != there);
  std::error_code failed;
  if (there && !own && !fs::remove(place, failed))
    return ioFailed(concat("cannot take away ", place.string(), " (", failed.message(), ")"));
  WITAN_DO(makeFolder(dir_ / "published"));
  WITAN_DO(replaceFile(publishedPath(dir_, file.name), document, 0644));
  if (own) return file.name + " was withdrawn; the file here is another one, and stays";
  return concat(file.name, " was withdrawn, version ", file.version, ": the node is without it from its next start on");
}

Result<std::vector<std::string>> PublishedFiles::look() {
  std::vector<std::string> words;
  replication::Space* space = replica_.database(DatabaseName::agents).find(config_.scope);
  if (space == nullptr) return words;
  std::set<std::string> changed;
  arrivals_.look(*space, [&](const replication::Record& record) {
    if (!record.key().ends_with(kPassDocuments)) changed.insert(nameIn(record.key()));
  });
  for (const std::string& name : changed) {
    WITAN_TRY(found, find(name));
    std::ranges::move(found.refused, std::back_inserter(words));
    if (!found.file) continue;
    WITAN_TRY(kept, this->kept(name));
    if (kept && !kept->former && kept->version >= found.file->version) continue;
    WITAN_TRY(taken, takeIn(*found.file, found.document));
    words.push_back(std::move(taken));
  }
  return words;
}

Result<std::vector<PublishedFile>> PublishedFiles::all() {
  std::vector<PublishedFile> files;
  for (const std::string& name : names()) {
    WITAN_TRY(found, find(name));
    if (found.file) files.push_back(*std::move(found.file));
  }
  return files;
}

Status checkPublished(const fs::path& dir) {
  WITAN_TRY(cluster, readClusterFile(dir));
  WITAN_TRY(first, publicKeyFromHex(cluster.adminKey, "adminKey"));
  WITAN_TRY(rosters, RosterStore::open(dir, first));
  const std::vector<PublicKey> admins = adminsOf(rosters);
  for (const char* folder : {"agents", "rules"}) {
    std::error_code failed;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir / folder, failed))
      if (std::string name = entry.path().filename().string(); isAgentName(name) || name.ends_with(kRulesEnding))
        names.push_back(std::move(name));
    std::ranges::sort(names);
    for (const std::string& name : names) {
      WITAN_TRY(text, readSmallFile(dir / folder / name, replication::kMaxRecordBytes));
      WITAN_TRY(kept, keptPublished(dir, name, admins));
      if (text && (!kept || kept->text != *text))
        return Error{ErrorCode::unauthorised,
                     concat((dir / folder / name).string(), " is not what the cluster's admin has published"),
                     "witan publish FILE on the admin's device, or [files] published_only = false"};
    }
  }
  return okStatus();
}

}  // namespace witan::node
