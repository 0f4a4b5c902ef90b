#include "replication/database.h"

#include "base/identity.h"

namespace witan::replication {

namespace {

// Rows: "f" format, "S"<scope> one a space, "s"<scope>00... the space's own, "m"<name> small facts.
constexpr std::string_view kFormat = "witan-replica-1";

std::string spacePrefix(std::string_view scope) {
  std::string prefix = "s";
  prefix += scope;
  prefix.push_back('\0');
  return prefix;
}

std::string formatOf(DatabaseName name) { return concat(kFormat, " ", toString(name)); }

}  // namespace

Result<std::unique_ptr<Database>> Database::open(store::Store& store, DatabaseName name, const FingerprintKey& key,
                                                 const RecordSchemas& schemas, std::string cluster,
                                                 std::shared_ptr<RowKeys> keys) {
  std::unique_ptr<Database> database(new Database(store, name, key, schemas, std::move(cluster), std::move(keys)));
  WITAN_DO(database->load());
  return database;
}

Status Database::load() {
  WITAN_TRY(format, store_.get("f"));
  if (!format) {
    pending_.put("f", formatOf(name_));
    return okStatus();
  }
  if (*format != formatOf(name_))
    return conflict("the store holds '" + *format + "', not '" + formatOf(name_) + "'",
                    "it belongs to the other database or to a newer witan");
  std::vector<std::string> scopes;
  WITAN_DO(store_.scan("S", {}, [&](std::string_view row, std::string_view) {
    scopes.emplace_back(row.substr(1));
    return true;
  }));
  for (const std::string& scope : scopes) {
    WITAN_DO(addSpace(scope));
    WITAN_DO(spaces_.at(scope)->load());
  }
  return okStatus();
}

Status Database::addSpace(std::string_view scope) {
  WITAN_DO(validateId("scope", scope));
  if (spaces_.size() >= kMaxScopes)
    return invalid(concat("the ", toString(name_), " database has ", kMaxScopes, " scopes, no more fit"));
  auto space = std::make_unique<Space>(store_, spacePrefix(scope), key_, schemas_, pending_);
  if (rowKeys_) space->useSeals(rowKeys_, cluster_, concat(toString(name_), "/", scope));
  spaces_.emplace(scope, std::move(space));
  return okStatus();
}

Result<Space*> Database::space(std::string_view scope) {
  if (Space* known = find(scope)) return known;
  WITAN_DO(addSpace(scope));
  Space& space = *spaces_.find(scope)->second;
  pending_.put(concat("S", scope), "");
  if (!writer_.empty()) WITAN_DO(space.become(writer_));
  return &space;
}

Space* Database::find(std::string_view scope) {
  const auto at = spaces_.find(scope);
  return at == spaces_.end() ? nullptr : at->second.get();
}

Status Database::become(std::string_view writerName) {
  WITAN_DO(validateId("writer", writerName));
  writer_ = writerName;
  for (const auto& [scope, space] : spaces_) WITAN_DO(space->become(writerName));
  return okStatus();
}

Result<std::optional<std::string>> Database::meta(std::string_view name) const {
  if (const auto at = unwritten_.find(name); at != unwritten_.end())
    return unwritten(at->second).empty() ? std::optional<std::string>() : std::string(unwritten(at->second));
  return store_.get(concat("m", name));
}

Status Database::scanMeta(std::string_view prefix,
                          const std::function<bool(std::string_view, std::string_view)>& visit) const {
  std::map<std::string, std::string, std::less<>> rows;
  WITAN_DO(store_.scan(concat("m", prefix), {}, [&](std::string_view row, std::string_view value) {
    rows.emplace(row.substr(1), value);
    return true;
  }));
  for (auto at = unwritten_.lower_bound(prefix); at != unwritten_.end() && at->first.starts_with(prefix); ++at)
    rows[at->first] = unwritten(at->second);
  for (const auto& [name, value] : rows)
    if (!value.empty() && !visit(name, value)) break;
  return okStatus();
}

Result<bool> Database::hasMeta(std::string_view prefix) const {
  for (auto at = unwritten_.lower_bound(prefix); at != unwritten_.end() && at->first.starts_with(prefix); ++at)
    if (!unwritten(at->second).empty()) return true;
  bool found = false;
  WITAN_DO(store_.scan(concat("m", prefix), {}, [&](std::string_view row, std::string_view value) {
    found = !value.empty() && !unwritten_.contains(row.substr(1));
    return !found;
  }));
  return found;
}

void Database::putMeta(std::string_view name, std::string_view value) {
  noteUnwritten(name);
  pending_.put(concat("m", name), value);
}

void Database::eraseMeta(std::string_view name) {
  noteUnwritten(name);
  pending_.erase(concat("m", name));
}

// The next operation is its latest.
void Database::noteUnwritten(std::string_view name) {
  if (const auto at = unwritten_.find(name); at != unwritten_.end())
    at->second = pending_.size();
  else
    unwritten_.emplace(name, pending_.size());
}

Status Database::flush() {
  if (pending_.empty()) return okStatus();
  for (const auto& [scope, space] : spaces_) space->completeBatch();
  WITAN_DO(store_.writeSynced(pending_));
  pending_.clear();
  unwritten_.clear();
  ++flushes_;
  for (const auto& [scope, space] : spaces_) space->flushed();
  return okStatus();
}

}  // namespace witan::replication
