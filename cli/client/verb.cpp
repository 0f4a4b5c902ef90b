#include "cli/client/verb.h"

#include "base/identity.h"
#include "base/seams.h"
#include "net/http_message.h"
#include "node/cluster/device_heads.h"
#include "node/cluster/roster_store.h"
#include "program/option_checks.h"
#include "replica/core/row_proofs.h"

namespace witan::node {

void addLiveOptions(Command* command, LiveArguments& arguments, const char* example) {
  command->option("--dir", arguments.dir, "Data directory; default $WITAN_DIR, else $XDG_DATA_HOME/witan")
      ->typeName("DIR");
  command->flag("--json", arguments.json, "JSON output");
  command->footer(concat("Example: ", example));
}

std::string shown(const json::value& object, const char* member) {
  const json::value* value = object.is_object() ? object.get_object().if_contains(member) : nullptr;
  if (value == nullptr || value->is_null()) return "-";
  if (value->is_string()) return value->get_string().empty() ? "-" : std::string(value->get_string());
  return canonicalJson(*value);
}

bool isTrue(const json::value& object, const char* member) {
  const json::value* value = object.is_object() ? object.get_object().if_contains(member) : nullptr;
  return value != nullptr && value->is_bool() && value->get_bool();
}

const json::array& rowsOf(const json::value& object, const char* member) {
  static const json::array none;
  const json::value* value = object.is_object() ? object.get_object().if_contains(member) : nullptr;
  return value != nullptr && value->is_array() ? value->get_array() : none;
}

int print(const json::value& answer, bool asJson, const std::function<std::string(const json::value&)>& words) {
  putWords(asJson ? canonicalJson(answer) + "\n" : words(answer));
  return kExitOk;
}

std::string columns(const std::vector<std::vector<std::string>>& given) {
  auto rows = given;
  for (auto& row : rows)
    for (std::string& cell : row) cell = oneLine(cell);
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += (i > 0 ? "  " : "") + row[i] + (i + 1 < row.size() ? std::string(widths[i] - row[i].size(), ' ') : "");
    out += line + "\n";
  }
  return out;
}

namespace fs = std::filesystem;

namespace {

// Records of this scope go to devices that are no members, too.
Status checkScope(const std::string& scope) {
  if (scope == replication::kClusterScope)
    return invalid("the scope " + scope + " is kept for statements about membership", "see: witan device list");
  return validateId("the scope", scope);
}

Result<std::unique_ptr<ReplicaDir>> openReplica(const fs::path& path, Missing missing) {
  const bool made = missing == Missing::create && !ReplicaDir::exists(path);
  if (made) WITAN_DO(ReplicaDir::create(path, {}));
  std::shared_ptr<replication::RowKeys> keys;
  if (ReplicaDir::exists(path)) {
    WITAN_TRY(heads, headKeysAtRest(path));
    WITAN_TRY(identity, readReplicaIdentity(path));
    keys = rowKeysOf(std::move(heads), identity.cluster);
  }
  WITAN_TRY(dir, ReplicaDir::open(path, std::move(keys)));
  const replication::LocalReplica& replica = dir->replica();
  if (made) {
    putErr("witan: made " + path.string() + ": device " + replica.device() + ", the first of cluster " +
           replica.cluster() + "\n");
  } else if (const replication::IncarnationDecision& decision = replica.incarnation();
             decision.newIncarnation() && decision.cause != replication::IncarnationCause::freshStore) {
    putErr("witan: this device goes on as a new writer, " + replica.writer() + " (" + decision.why + ")\n");
  }
  return std::move(dir);
}

}  // namespace

void addScopeOption(Command* command, ReplicaArguments& arguments) {
  command->option("--scope", arguments.scope, "Which of the database's scopes")
      ->showDefault()
      ->check(readBy(checkScope));
}

int printed(const Printed& answer) {
  putWords(answer.text);
  return answer.exitCode;
}

Status onDirectory(const fs::path& path, Missing missing, const std::function<Status(ReplicaDir&)>& work) {
  WITAN_TRY(dir, openReplica(path, missing));
  WITAN_DO(work(*dir));
  WITAN_DO(dir->flush());
  return dir->close();
}

operations::OperationContext contextOf(ReplicaDir& dir) {
  return {.dir = dir.path(),
          .replica = dir.replica(),
          .now = SystemClock().now(),
          .flush = [&dir] { return dir.flush(); },
          .names = rosterNames(dir.path())};
}

std::string queryOf(const json::object& request) {
  std::string query;
  for (const auto& [name, value] : request)
    query += concat(query.empty() ? "?" : "&", name, "=",
                    net::percentEncoded(value.is_string() ? std::string(value.get_string()) : canonicalJson(value)));
  return query;
}

}  // namespace witan::node
