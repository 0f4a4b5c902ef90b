// `witan backup` and `witan restore`: copies of a device, taken while it runs or while it does not, and brought back.
#include "base/seams.h"
#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "node/backup/backup.h"
#include "node/backup/restore.h"
#include "node/cluster/roster_store.h"
#include "program/progress.h"

namespace witan::node {

namespace {

namespace fs = std::filesystem;

// A node may write for longer than a decision takes.
constexpr std::int64_t kBackupTimeoutMs = 3'600'000;

struct BackupArguments : LiveArguments {
  std::string to, from;
  bool keys = false, force = false, check = false, seize = false;
};

json::object summary(const BackupManifest& manifest) {
  std::uint64_t bytes = 0;
  for (const BackupFile& file : manifest.files) bytes += file.bytes;
  return {{"files", manifest.files.size()}, {"bytes", bytes}, {"keys", manifest.keys}, {"at", formatTime(manifest.at)}};
}

Result<int> backUp(const BackupArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  std::error_code ec;
  const fs::path to = fs::absolute(a.to, ec);
  const Progress progress("backing up");
  json::value written;
  bool online = false;
  if (auto client = ControlClient::open(dir); client.ok()) {
    WITAN_SET(written, client->post("/v1/backup", {{"to", to.string()}, {"keys", a.keys}}, kBackupTimeoutMs));
    online = true;
  } else {
    WITAN_TRY(manifest, backupOffline({dir, to, a.keys, SystemClock().now()}));
    json::object row = summary(manifest);
    row["to"] = to.string();
    written = std::move(row);
  }
  return print(written, a.json, [&](const json::value& row) {
    return "backed up to " + shown(row, "to") + ": " + shown(row, "files") + " files, " + shown(row, "bytes") +
           " bytes" + (online ? ", from the running node" : "") +
           (a.keys ? ", keys included: keep it as safe as the device\n" : ", without keys\n");
  });
}

// It signs the rosters of others, too: without what they know it parts from them.
bool signsRosters(const fs::path& dir) { return hasKey(dir, KeyName::admin) && rosterNames(dir).size() > 1; }

std::string restoredWords(const Restored& done, const fs::path& dir) {
  std::string text = "restored " + done.manifest.device + " as of " + formatTime(done.manifest.at) + "\n";
  if (!done.writer.empty()) text += "it goes on as the writer " + done.writer + "\n";
  if (!done.aside.empty()) text += "what was there is in " + done.aside + "\n";
  for (const std::string& name : done.missing) text += "missing: " + (dir / name).string() + "\n";
  if (!done.missing.empty())
    text +=
        "the backup was taken without keys. If you have them elsewhere, copy them there (chmod 600) and start it; if "
        "not, nobody can take this device's place any more: witan device revoke " +
        done.manifest.device.substr(0, 8) + " on the admin device, and a fresh invitation into another directory\n";
  if (done.seized > 0) text += concat("it has seized its ", done.seized, " partitions again\n");
  if (!done.ownerless.empty())
    text += concat(done.ownerless.size(), " partitions wait for an owner (", done.ownerless.front(),
                   ", ...): seize them where the longest copy is: witan partition seize\n");
  if (signsRosters(dir))
    text +=
        "this device signs rosters: start it beside another member before you admit, revoke or change anything\n"
        "what it signs before it has met one parts from what the others know, until it meets one and unites both\n"
        "if its own key was replaced after this backup, the others do not let it in until then\n";
  return text;
}

json::array texts(const std::vector<std::string>& list) {
  json::array out;
  for (const std::string& text : list) out.emplace_back(text);
  return out;
}

Result<int> restore(const BackupArguments& a) {
  WITAN_TRY(dir, replicaDirPath(a.dir));
  if (a.check) {
    WITAN_TRY(manifest, verifyBackup(a.from));
    json::object row = summary(manifest);
    row["device"] = manifest.device;
    return print(row, a.json, [](const json::value& v) {
      return "ok: " + shown(v, "files") + " files of " + shown(v, "device") + ", " + shown(v, "at") + "\n";
    });
  }
  const Progress progress("restoring");
  const Time wall = SystemClock().now();
  WITAN_TRY(done, restoreBackup({a.from, dir, a.force, a.seize, {wall, net::Loop::nowMs()}}));
  json::object row = summary(done.manifest);
  row["device"] = done.manifest.device;
  row["writer"] = done.writer.empty() ? json::value(nullptr) : json::value(done.writer);
  row["aside"] = done.aside.empty() ? json::value(nullptr) : json::value(done.aside);
  row["missing"] = texts(done.missing);
  row["ownerless"] = texts(done.ownerless);
  row["seized"] = done.seized;
  row["signsRosters"] = signsRosters(dir);
  return print(row, a.json, [&](const json::value&) { return restoredWords(done, dir); });
}

}  // namespace

void addBackupCommands(Command& app) {
  const auto [backup, saved] =
      addVerb<BackupArguments>(app, "backup", "Copy a device's data, running or not, to a new folder",
                               "witan backup --to /mnt/backups/2026-11-22 --with-keys", backUp);
  backup->option("--to", saved->to, "A folder that does not exist yet, or is empty")->required()->typeName("DIR");
  backup->flag("--with-keys", saved->keys, "The device's and the cluster's secrets too");
  const auto [command, read] = addVerb<BackupArguments>(
      app, "restore",
      "Bring a backup back; the device goes on as a new writer. Start one that signs rosters beside another member",
      "witan restore --from /mnt/backups/2026-11-22 --dir /var/lib/witan", restore);
  command->option("--from", read->from, "What witan backup wrote")->required()->typeName("DIR");
  command->flag("--force", read->force, "Even if there is a device: what is there is set aside");
  command->flag("--check", read->check, "Only compare the backup with its manifest");
  command->flag("--seize", read->seize,
                "Decide again for the partitions it decided for; only if no other device has a longer copy");
}

}  // namespace witan::node
