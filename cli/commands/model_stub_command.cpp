// `witan model-stub`: a scripted model for writing agents (node/tools/model_stub.h).
#include <csignal>
#include <cstdio>

#include "cli/client/verb.h"
#include "cli/commands/commands.h"
#include "net/http_server.h"
#include "node/tools/model_stub.h"
#include "program/json_file.h"
#include "program/line_reader.h"

namespace witan::node {

namespace {

constexpr std::size_t kMostScriptBytes = 16 << 20;

struct StubArguments {
  std::string listen = "127.0.0.1:11434", script;
};

Result<int> serve(const StubArguments& a) {
  std::string script = "{\"obey\":true}\n";
  if (!a.script.empty()) WITAN_SET(script, readInput(a.script, kMostScriptBytes));
  auto stub = ModelStub::make(script);
  if (!stub.ok()) return named(a.script, stub.error());
  net::Loop loop;
  net::HttpServer server(loop, {}, [&](const net::HttpRequest& request, const std::shared_ptr<net::HttpReply>& reply) {
    reply->answer(stub->answer(request));
  });
  WITAN_TRY(address, server.listen(a.listen));
  putOut("http://" + address + "\n");
  std::fflush(stdout);
  loop.onSignals({SIGINT, SIGTERM}, [&](int) { loop.stop(); });
  loop.run();
  return kExitOk;
}

}  // namespace

void addModelStubCommand(Command& app) {
  const auto arguments = std::make_shared<StubArguments>();
  Command* command = app.command("model-stub", "Serve a scripted model: OpenAI-compatible, Anthropic and Ollama");
  command->option("--listen", arguments->listen, "127.0.0.1:PORT; port 0: any")->showDefault();
  command
      ->option("--script", arguments->script,
               "An answer a line, as JSON; default: it obeys every CALL {...} that it reads")
      ->typeName("FILE|-");
  command->footer("Example: timeout 1 witan model-stub --listen 127.0.0.1:0 || test $? = 124");
  command->callback([arguments] {
    const Result<int> code = serve(*arguments);
    return code.ok() ? *code : reportError(code.error(), false);
  });
}

}  // namespace witan::node
