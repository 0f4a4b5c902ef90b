// Backups of the running node, to a folder of its machine.
#include "node/api/control_routes.h"

namespace witan::node::control {

namespace {

Result<BackupOrder> orderOf(const ControlCall& call) {
  BackupOrder order{call.daemon.path(), call.text("to"), false, call.daemon.now().wall};
  const json::value* keys = call.body.if_contains("keys");
  order.keys = keys != nullptr && keys->get_bool();
  if (order.keys && !includes(call.role, ControlRole::admin))
    return Error{ErrorCode::unauthorised,
                 std::string("a backup with keys needs the role admin, the token is of ") + wordOf(call.role), ""};
  WITAN_DO(checkTarget(order));
  return order;
}

}  // namespace

void backup(const ControlCall& call) {
  auto order = orderOf(call);
  if (!order.ok()) return call.refuse(order.error());
  const std::string to = order->to.string();
  const Status begun = call.daemon.backUp(std::move(*order), [call, to](const Result<BackupManifest>& manifest) {
    if (!manifest.ok()) {
      call.daemon.log().warn("backup", "failed", {{"to", to}, {"why", manifest.error().message}});
      return call.refuse(manifest.error());
    }
    std::uint64_t bytes = 0;
    for (const BackupFile& file : manifest->files) bytes += file.bytes;
    call.daemon.log().info("backup", "written", {{"to", to}, {"bytes", std::to_string(bytes)}});
    call.answer({{"to", to},
                 {"files", manifest->files.size()},
                 {"bytes", bytes},
                 {"keys", manifest->keys},
                 {"at", formatTime(manifest->at)}});
  });
  if (!begun.ok()) call.refuse(begun.error());
}

}  // namespace witan::node::control
