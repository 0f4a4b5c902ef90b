// `witan dev`: a node that lives in memory, with agents from files, a scripted model, and entries that wake them: for
// writing agents (docs/tools.md). One process; nothing of it is left.
#include "cli/commands/dev_command.h"

#include <stdlib.h>

#include <thread>

#include "agents/data/agent_file.h"
#include "base/seams.h"
#include "cli/client/verb.h"
#include "net/http_server.h"
#include "node/enrolment/new_node.h"
#include "node/operations/agent_records.h"
#include "node/operations/journal.h"
#include "node/tools/model_stub.h"
#include "program/durable_file.h"
#include "program/line_reader.h"

namespace witan::node {

namespace fs = std::filesystem;

namespace {

struct DevArguments {
  std::string agents, policy, entries, script, tools;
  bool json = false;
};

constexpr std::size_t kMostFileBytes = 16 << 20, kMostEntryBytes = 1 << 20;
constexpr const char* kModelName = "scripted";

// In memory where the machine has a place for that.
class Folder {
 public:
  Result<fs::path> make() {
    std::error_code failed;
    const fs::path memory = "/dev/shm";
    std::string name =
        ((fs::is_directory(memory, failed) ? memory : fs::temp_directory_path()) / "witan-dev-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) return ioFailed("cannot make a folder like " + name);
    path_ = name;
    return path_ / "node";
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

 private:
  fs::path path_;
};

// The scripted model, on a thread of its own.
class Model {
 public:
  Result<std::string> start(const std::string& script) {
    WITAN_TRY(stub, ModelStub::make(script));
    stub_ = std::move(stub);
    server_ = std::make_unique<net::HttpServer>(
        loop_, net::HttpServerOptions{},
        [this](const net::HttpRequest& request, const auto& reply) { reply->answer(stub_->answer(request)); });
    WITAN_TRY(address, server_->listen("127.0.0.1:0"));
    thread_ = std::thread([this] { loop_.run(); });
    return "http://" + address;
  }
  ~Model() {
    if (!thread_.joinable()) return;
    loop_.stop();
    thread_.join();
  }

 private:
  net::Loop loop_;
  std::optional<ModelStub> stub_;
  std::unique_ptr<net::HttpServer> server_;
  std::thread thread_;
};

// Copies the agents. Returns their ids.
Result<std::vector<agents::AgentFile>> takeAgents(const std::string& from, const fs::path& into) {
  std::vector<agents::AgentFile> all;
  std::error_code failed;
  fs::create_directories(into, failed);
  for (const auto& entry : fs::directory_iterator(from, failed)) {
    if (!entry.path().filename().string().ends_with(".agent.toml")) continue;
    WITAN_TRY(text, readInput(entry.path().string(), agents::kMaxAgentFileBytes));
    WITAN_TRY(file, agents::readAgentFile(text, entry.path().string()));
    WITAN_DO(replaceFile(into / entry.path().filename(), text, 0600));
    if (file.emits.empty()) all.push_back(std::move(file));  // the others wait for graphs
  }
  if (failed) return ioFailed("cannot read the agents of " + from + " (" + failed.message() + ")");
  if (all.empty()) return notFound("there are no agents in " + from, "files ID.agent.toml");
  std::ranges::sort(all, {}, &agents::AgentFile::id);
  return all;
}

Status addText(const fs::path& file, const std::string& text) {
  WITAN_TRY(before, readSmallFile(file, kMostFileBytes));
  return replaceFile(file, before.value_or("") + text, 0600);
}

// What a person would have confirmed, and the entries: before the node begins, so that they wake its agents at once.
Status enter(ReplicaDir& open, const std::vector<agents::AgentFile>& agents, const DevArguments& a) {
  operations::OperationContext context = contextOf(open);
  for (const agents::AgentFile& agent : agents) {
    if (agent.form != "model") continue;
    const std::string boundary = agent.mind.substr(0, agent.mind.find('.'));
    const auto confirmed = operations::confirmReceipt(
        context, {agent.id, boundary, "dev", std::string(kModelName), std::string(kModelName), {}, {}});
    if (!confirmed.ok()) return confirmed.error();
  }
  if (a.entries.empty()) return okStatus();
  return forEachLine(a.entries, kMostEntryBytes, [&](const InputLine& line) -> Status {
    const auto wrong = [&](const std::string& why) { return invalid(concat(a.entries, ":", line.number, ": ", why)); };
    if (line.text.empty()) return okStatus();
    auto value = parseJson(line.text, {.bytes = kMostEntryBytes, .depth = 25});
    if (line.overlong || !value.ok() || !value->is_object()) return wrong("it is no JSON object");
    operations::JournalPutRequest put;
    if (const Status good = readJson(*value, put, "entry"); !good.ok()) return wrong(good.error().message);
    const auto written = operations::putJournal(context, put);
    return written.ok() ? okStatus() : Status(wrong(written.error().message));
  });
}

Result<int> dev(const DevArguments& a) {
  Folder folder;
  WITAN_TRY(dir, folder.make());
  const Now now{SystemClock().now(), net::Loop::nowMs()};
  WITAN_DO(beginCluster(dir, {.name = "dev", .listen = {"127.0.0.1:0"}, .partitions = 1}, now));
  WITAN_TRY(agents, takeAgents(a.agents, dir / "agents"));
  WITAN_TRY(policy, readInput(a.policy, kMostFileBytes));
  WITAN_DO(replaceFile(dir / "policy.toml", policy, 0600));
  std::string script = "{\"obey\":true}\n", tools;
  if (!a.script.empty()) WITAN_SET(script, readInput(a.script, kMostFileBytes));
  if (!a.tools.empty()) WITAN_SET(tools, readInput(a.tools, kMostFileBytes));
  Model model;
  WITAN_TRY(url, model.start(script));
  WITAN_DO(addText(dir / "witan.toml",
                   concat("\n[tool.llm]\nkind = \"model\"\nformat = \"openai\"\nprovider = \"", kModelName,
                          "\"\nmodel = \"", kModelName, "\"\nurl = \"", url, "\"\nlooks = [\"chat\"]\n", tools)));
  WITAN_DO(onDirectory(dir, Missing::refuse, [&](ReplicaDir& open) { return enter(open, agents, a); }));
  std::vector<std::string> ids;
  for (const agents::AgentFile& agent : agents) ids.push_back(agent.id);
  putOut(concat("export WITAN_DIR=", dir.string(), "\n"));
  std::fflush(stdout);
  return runNode(dir, ids);
}

}  // namespace

void addDevCommand(Command& app) {
  const auto a = std::make_shared<DevArguments>();
  Command* command =
      app.command("dev", "A node in memory with agents from files and a scripted model, for writing agents");
  command->option("AGENTS", a->agents, "Folder with files ID.agent.toml")->required();
  command->option("--policy", a->policy, "What they may do")->required()->typeName("FILE");
  command->option("--entries", a->entries, "Journal entries that wake them, as JSON Lines: id, type, payload")
      ->typeName("FILE|-");
  command
      ->option("--script", a->script,
               "Answers of the model llm, as for model-stub; default: it obeys every CALL {...} that it reads")
      ->typeName("FILE");
  command->option("--tools", a->tools, "More [tool.NAME], as in witan.toml")->typeName("FILE");
  command->flag("--json", a->json, "Errors as JSON");
  command->footer(
      "Prints where it is, for other commands; ends with Ctrl-C, and leaves nothing.\n"
      "Example: witan dev docs/examples/agents --policy docs/examples/dev/policy.toml --entries "
      "docs/examples/dev/entries.jsonl");
  runs(command, a, dev);
}

}  // namespace witan::node
