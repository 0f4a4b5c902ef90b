// Agents and rules that the cluster's admin gives to all devices (node/daemon/published_files.h).
#include "agents/data/data_agent.h"
#include "base/bytes.h"
#include "base/sha256.h"
#include "node/api/control_routes.h"
#include "node/cluster/device_key.h"
#include "node/daemon/agent_names.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(FileRow, (std::string, name, "Name of the file: ID.agent.toml or DOMAIN.domain.toml"),
             (std::uint64_t, version, "How often it was published or withdrawn"),
             (Omittable<std::string>, digest, "SHA-256 of the text, hex; none: it was withdrawn"))

WITAN_STRUCT(FileRows, (std::vector<FileRow>, files, "Files that the admin has published, by name"))

WITAN_STRUCT(PublishFileRequest, (std::string, name, "Name of the file: ID.agent.toml or DOMAIN.domain.toml", 1),
             (std::string, text, "The file", 1))

WITAN_STRUCT(WithdrawFileRequest, (std::string, name, "Name of the file: ID.agent.toml or DOMAIN.domain.toml", 1))

FileRow fileRow(const PublishedFile& file) {
  FileRow row{file.name, file.version, {}};
  if (file.text) row.digest = toHex(sha256(*file.text));
  return row;
}

Result<FileRows> files(const ApiContext& context, const Nothing&) {
  WITAN_TRY(all, context.daemon.published().all());
  FileRows rows;
  for (const PublishedFile& file : all) rows.files.push_back(fileRow(file));
  return rows;
}

using Given = std::function<Result<PublishedFile>(PublishedFiles&, const SigningKey& admin)>;

Result<FileRow> give(Daemon& daemon, const Given& given) {
  if (!daemon.enrolment().isAdmin())
    return conflict("this device does not have the admin's key", "publish on the device where the cluster was begun");
  WITAN_TRY(key, readKey(daemon.path(), KeyName::admin));
  WITAN_TRY(file, given(daemon.published(), key));
  WITAN_DO(daemon.tick());
  daemon.takePublished();
  return fileRow(file);
}

// What no device could do anything with, as far as this one knows.
Status checkNames(Daemon& daemon, const PublishFileRequest& request) {
  if (!request.name.ends_with(".agent.toml")) return okStatus();
  WITAN_TRY(file, agents::readAgentFile(request.text, request.name));
  WITAN_TRY(agent, agents::DataAgent::make(std::move(file), agents::agentFileVersion(request.text)));
  WITAN_TRY(given, daemon.published().all());
  std::vector<std::string> coming;
  for (const PublishedFile& one : given) coming.push_back(one.name.substr(0, one.name.find('.')));
  const auto unknown = unknownNames(*agent, daemon.replica().domains(), coming);
  if (unknown.empty()) return okStatus();
  return invalid(concat(request.name, ": ", unknown.front()),
                 "witan domain list names all; publish rules before agents");
}

Result<FileRow> publish(const ApiContext& context, const PublishFileRequest& request) {
  WITAN_DO(checkNames(context.daemon, request));
  return give(context.daemon, [&](PublishedFiles& files, const SigningKey& admin) {
    return files.publish(request.name, request.text, admin);
  });
}

Result<FileRow> withdraw(const ApiContext& context, const WithdrawFileRequest& request) {
  return give(context.daemon,
              [&](PublishedFiles& files, const SigningKey& admin) { return files.withdraw(request.name, admin); });
}

}  // namespace

std::vector<ControlRoute> fileRoutes() {
  using enum ControlRole;
  return {
      get("/v1/files", "listFiles", "files", observer, "Agents and rules that the admin has published", files, {500}),
      post("/v1/files/publish", "publishFile", "files", admin,
           "Signs an agent or rules for all devices; each has it from its next start on", publish, {409, 500}),
      post("/v1/files/withdraw", "withdrawFile", "files", admin,
           "Takes an agent or rules away from all devices; each is without it from its next start on", withdraw,
           {404, 409, 500})};
}

}  // namespace witan::node::api
