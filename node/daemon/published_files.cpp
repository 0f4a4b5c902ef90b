#include "node/daemon/published_files.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/quote.h"
#include "node/cluster/device_key.h"
#include "node/daemon/agent_files.h"
#include "node/data_dir/node_dir.h"
#include "program/durable_file.h"
#include "replication/records/record_write.h"
#include "replication/records/signed_document.h"
#include "rules/domain/rule_module.h"

namespace witan::node {

namespace fs = std::filesystem;

using replication::DatabaseName;
using replication::DocumentKind;
using replication::SignedDocumentBody;

namespace {

constexpr std::string_view kAgentEnding = ".agent.toml", kRulesEnding = ".domain.toml";
constexpr const char* kText = "text";

bool isAgentName(std::string_view name) { return name.ends_with(kAgentEnding); }

std::string nameIn(std::string_view key) { return std::string(key.substr(0, key.find('/'))); }

fs::path documentPath(const fs::path& dir, const std::string& name) { return dir / "published" / name; }

fs::path placeOf(const fs::path& dir, const std::string& name) {
  return isAgentName(name) ? dir / "agents" / name
                           : ruleFilePath(dir, std::string_view(name).substr(0, name.size() - kRulesEnding.size()));
}

// Errors: the text is not what the name says.
Status checkText(const std::string& name, const std::string& text) {
  if (name.find('/') != name.npos) return invalid(inQuotes(name) + " is no name of a file");
  if (isAgentName(name)) return AgentFiles::check(text, name);
  if (!name.ends_with(kRulesEnding))
    return invalid(inQuotes(name) + " is neither an agent nor rules", "ID.agent.toml or DOMAIN.domain.toml");
  WITAN_TRY(module, rules::makeRuleModule(text, name));
  if (module->signature().domain + std::string(kRulesEnding) == name) return okStatus();
  return invalid(concat(name, ": its domain is ", inQuotes(module->signature().domain)),
                 concat("the file must be named ", module->signature().domain, kRulesEnding));
}

// Errors: not signed by the admin, of another name.
Result<PublishedFile> readDocument(std::string_view bytes, const std::string& name, const PublicKey& admin) {
  WITAN_TRY(document, replication::decodeRecord<SignedDocumentBody>(bytes));
  WITAN_DO(replication::verify(document, admin));
  WITAN_TRY(content, parseJson(document.content, kOwnJson));
  const json::value* text = content.is_object() ? content.get_object().if_contains(kText) : nullptr;
  if (document.kind != DocumentKind::policy || document.name != name || text == nullptr || !text->is_string())
    return invalid("the signed document is not of " + inQuotes(name));
  return PublishedFile{name, document.version, std::string(text->get_string())};
}

// None: none is there that counts.
Result<std::optional<PublishedFile>> keptDocument(const fs::path& dir, const std::string& name,
                                                  const PublicKey& admin) {
  WITAN_TRY(bytes, readSmallFile(documentPath(dir, name), replication::kMaxRecordBytes));
  if (!bytes) return std::optional<PublishedFile>();
  auto file = readDocument(*bytes, name, admin);
  return file.ok() ? std::optional(*std::move(file)) : std::nullopt;
}

}  // namespace

Result<PublishedFiles::Found> PublishedFiles::find(const std::string& name) {
  Found found;
  replication::Space* space = replica_.database(DatabaseName::agents).find(scope_);
  if (space == nullptr) return found;
  std::vector<replication::Version> all;
  for (const std::string& key : space->keys(replication::Kind::policy)) {
    if (nameIn(key) != name) continue;
    WITAN_TRY(versions, space->versions(replication::Kind::policy, key));
    all.insert(all.end(), versions.begin(), versions.end());
  }
  const auto view = replication::documentViewOf(DocumentKind::policy, name, admin_, all);
  for (const replication::Unreadable& one : view.unreadable)
    found.refused.push_back(concat(name, ": a version counts for nothing: ", one.why));
  if (!view.current) return found;
  WITAN_SET(found.document, replication::encodeRecord(view.current->document));
  if (auto file = readDocument(found.document, name, admin_); file.ok()) found.file = *std::move(file);
  return found;
}

std::set<std::string> PublishedFiles::names() {
  std::set<std::string> all;
  if (replication::Space* space = replica_.database(DatabaseName::agents).find(scope_))
    for (const std::string& key : space->keys(replication::Kind::policy)) all.insert(nameIn(key));
  return all;
}

Result<PublishedFile> PublishedFiles::publish(const std::string& name, const std::string& text,
                                              const SigningKey& admin) {
  WITAN_DO(checkText(name, text));
  WITAN_TRY(known, find(name));
  const std::optional<PublishedFile>& before = known.file;
  WITAN_TRY(kept, keptDocument(dir_, name, admin_));
  if (!isAgentName(name)) {
    WITAN_TRY(there, readSmallFile(placeOf(dir_, name), replication::kMaxRecordBytes));
    if ((there && *there != text) || (before && before->text != text))
      return conflict("other rules are known as " + inQuotes(name) + ", and ledgers may be of them",
                      "give the domain another name");
  }
  PublishedFile file{name, std::max(before ? before->version : 0, kept ? kept->version : 0) + 1, text};
  SignedDocumentBody body{.kind = DocumentKind::policy,
                          .name = name,
                          .version = file.version,
                          .content = canonicalJson(json::object{{kText, text}})};
  WITAN_TRY(document, replication::sign(std::move(body), admin));
  const std::string key = concat(name, "/", toHex(replication::documentDigest(document)).substr(0, 32));
  WITAN_TRY(write, replication::recordWrite(key, document));
  WITAN_DO(replica_.commit(DatabaseName::agents, scope_, {&write, 1}));
  return file;
}

// The document comes first: a file without it does not count where only published ones do.
Result<std::string> PublishedFiles::takeIn(const PublishedFile& file, const std::string& document) {
  if (const Status good = checkText(file.name, file.text); !good.ok())
    return concat(file.name, " was published, and cannot be read here: ", good.error().message);
  const fs::path place = placeOf(dir_, file.name);
  WITAN_TRY(there, readSmallFile(place, replication::kMaxRecordBytes));
  if (!isAgentName(file.name) && there && *there != file.text)
    return file.name + " was published, but other rules are installed here under this name, and stay";
  WITAN_DO(makeFolder(dir_ / "published"));
  WITAN_DO(makeFolder(place.parent_path()));
  WITAN_DO(replaceFile(documentPath(dir_, file.name), document, 0644));
  if (isAgentName(file.name)) WITAN_DO(AgentFiles::keep(dir_, file.text));
  if (there && *there == file.text) return concat(file.name, " is published as it is here");
  WITAN_DO(replaceFile(place, file.text, 0644));
  return concat(file.name, " has come, version ", file.version, ": the node has it from its next start on");
}

Result<std::vector<std::string>> PublishedFiles::look() {
  std::vector<std::string> words;
  replication::Space* space = replica_.database(DatabaseName::agents).find(scope_);
  if (space == nullptr) return words;
  std::set<std::string> changed;
  arrivals_.look(*space, [&](const replication::Record& record) { changed.insert(nameIn(record.key)); });
  for (const std::string& name : changed) {
    WITAN_TRY(found, find(name));
    std::ranges::move(found.refused, std::back_inserter(words));
    if (!found.file) continue;
    WITAN_TRY(kept, keptDocument(dir_, name, admin_));
    if (kept && kept->version >= found.file->version) continue;
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
  WITAN_TRY(admin, publicKeyFromHex(cluster.adminKey, "adminKey"));
  for (const char* folder : {"agents", "rules"}) {
    std::error_code failed;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir / folder, failed))
      if (std::string name = entry.path().filename().string(); isAgentName(name) || name.ends_with(kRulesEnding))
        names.push_back(std::move(name));
    std::ranges::sort(names);
    for (const std::string& name : names) {
      WITAN_TRY(text, readSmallFile(dir / folder / name, replication::kMaxRecordBytes));
      WITAN_TRY(kept, keptDocument(dir, name, admin));
      if (text && (!kept || kept->text != *text))
        return Error{ErrorCode::unauthorised,
                     concat((dir / folder / name).string(), " is not what the cluster's admin has published"),
                     "witan publish FILE on the admin's device, or [files] published_only = false"};
    }
  }
  return okStatus();
}

}  // namespace witan::node
