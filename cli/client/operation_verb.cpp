#include "cli/client/operation_verb.h"

#include "base/seams.h"
#include "node/cluster/roster_store.h"
#include "program/output.h"

namespace witan::node {

namespace fs = std::filesystem;

std::optional<ControlClient> runningNode(const fs::path& dir) {
  std::error_code ec;
  if (!fs::exists(dir / "control.json", ec)) return std::nullopt;
  auto client = ControlClient::open(dir);
  return client.ok() ? std::optional(std::move(*client)) : std::nullopt;
}

std::string queryOf(const json::object& request) {
  std::string query;
  for (const auto& [name, value] : request)
    query += (query.empty() ? "?" : "&") + std::string(name) + "=" +
             net::percentEncoded(value.is_string() ? std::string(value.get_string()) : canonicalJson(value));
  return query;
}

Status onDirectory(const fs::path& path, Missing missing,
                   const std::function<Status(operations::OperationContext&)>& work) {
  WITAN_TRY(dir, openReplica(path, missing));
  operations::OperationContext context{path, dir->replica(), SystemClock().now(), [&] { return dir->flush(); }};
  context.names = rosterNames(path);
  WITAN_DO(work(context));
  WITAN_DO(dir->flush());
  return dir->close();
}

int printed(const Printed& answer, bool asJson) {
  asJson ? putOut(answer.text) : putWords(answer.text);
  return answer.exitCode;
}

}  // namespace witan::node
