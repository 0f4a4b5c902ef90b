// `witan publish [FILE]`: agents and rules that the cluster's admin gives to all devices.
#include <filesystem>

#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "program/durable_file.h"

namespace witan::node {

namespace {

struct PublishArguments : LiveArguments {
  std::string file, withdraw;
};

constexpr std::size_t kMostPublished = 64 * 1024;

std::string fileWords(const json::value& row) {
  const std::string digest = shown(row, "digest").substr(0, 16);
  return concat(shown(row, "name"), "  version ", shown(row, "version"), "  ", digest == "-" ? "withdrawn" : digest,
                "\n");
}

Result<int> publishFile(const ControlClient& client, const PublishArguments& a) {
  if (!a.withdraw.empty()) {
    WITAN_TRY(made, client.post("/v1/files/withdraw", {{"name", a.withdraw}}));
    return print(made, a.json, fileWords);
  }
  if (a.file.empty()) {
    WITAN_TRY(all, client.get("/v1/files"));
    return print(all, a.json, [](const json::value& files) {
      std::string words;
      for (const json::value& row : rowsOf(files, "files")) words += fileWords(row);
      return words.empty() ? std::string("nothing is published\n") : words;
    });
  }
  WITAN_TRY(text, readSmallFile(a.file, kMostPublished));
  if (!text) return notFound("there is no file " + a.file);
  const std::string name = std::filesystem::path(a.file).filename().string();
  WITAN_TRY(made, client.post("/v1/files/publish", {{"name", name}, {"text", *text}}));
  return print(made, a.json, fileWords);
}

}  // namespace

void addPublishCommand(Command& app) {
  const auto [command, a] = addLiveVerb<PublishArguments>(
      app, "publish",
      "Give an agent or rules to all devices, on the device with the admin's key; or list what is given",
      "witan publish docs/examples/purchase.domain.toml", publishFile);
  command->option("FILE", a->file, "ID.agent.toml or DOMAIN.domain.toml; default: lists what is published");
  command->option("--withdraw", a->withdraw, "Take this one away from all devices instead")->typeName("NAME");
}

}  // namespace witan::node
