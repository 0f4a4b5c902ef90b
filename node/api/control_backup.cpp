// Backups of the running node, to a folder of its machine.
#include "node/api/control_routes.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(BackupRequest, (std::string, to, "Absolute path of a folder that does not exist yet, or is empty", 1),
             (Omittable<bool>, keys, "true: the secrets too; needs the role admin"))

WITAN_STRUCT(BackupWritten, (std::string, to, "Path of the folder"), (std::uint64_t, files, "Number of files"),
             (std::uint64_t, bytes, "Bytes of all files"), (bool, keys, "Whether the secrets are in it"),
             (Time, at, "The moment of which it is a copy"))

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
  using enum ControlRole;
  return {post("/v1/backup", "writeBackup", "node", operator_,
               "Copies the node's data to a new folder of its machine while the node works", backup, {409, 500})};
}

}  // namespace witan::node::api
