// Backups of the running node, to a folder of its machine.
#include "node/api/control_routes.h"
#include "node/api/messages/backup.h"

namespace witan::node::api {

namespace {

Result<BackupOrder> orderOf(const ApiContext& context, const BackupRequest& request) {
  BackupOrder order{context.daemon.path(), request.to, request.keys.value_or(false), context.daemon.now().wall};
  if (order.keys && !includes(context.role, ControlRole::admin))
    return Error{ErrorCode::unauthorised,
                 std::string("a backup with keys needs the role admin, the token is of ") + wordOf(context.role), ""};
  WITAN_DO(checkTarget(order));
  return order;
}

void backup(const ApiContext& context, const BackupRequest& request, Later<BackupWritten> later) {
  auto order = orderOf(context, request);
  if (!order.ok()) return later.refuse(order.error());
  const std::string to = order->to.string();
  Daemon& daemon = context.daemon;
  const Status begun = daemon.backUp(std::move(*order), [&daemon, later, to](const Result<BackupManifest>& manifest) {
    if (!manifest.ok()) {
      daemon.log().warn("backup", "failed", {{"to", to}, {"why", manifest.error().message}});
      return later.refuse(manifest.error());
    }
    std::uint64_t bytes = 0;
    for (const BackupFile& file : manifest->files) bytes += file.bytes;
    daemon.log().info("backup", "written", {{"to", to}, {"bytes", std::to_string(bytes)}});
    later.answer({to, manifest->files.size(), bytes, manifest->keys, manifest->at});
  });
  if (!begun.ok()) later.refuse(begun.error());
}

}  // namespace

std::vector<ControlRoute> backupRoutes() {
  return {laterRoute(
      {.method = "POST",
       .path = "/v1/backup",
       .operationId = "writeBackup",
       .tag = "node",
       .role = ControlRole::operator_,
       .summary = "Copies the node's data to a new folder of its machine while the node works",
       .errors = {409, 500},
       .request = R"({"to":"/var/backups/witan/today"})",
       .response =
           R"({"to":"/var/backups/witan/today","files":9,"bytes":81920,"keys":false,"at":"2026-03-23T08:00:00Z"})"},
      backup)};
}

}  // namespace witan::node::api
