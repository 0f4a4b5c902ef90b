// What the broker adds to a call of a tool over stdio: the same MCP server (bench/tool_server.py) asked through the
// broker, and by hand over the same kind of pipe; and calls a second, eight at once.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "base/seams.h"
#include "net/child_process.h"
#include "node/tools/tool_broker.h"

namespace {

using namespace witan;
using namespace witan::node;
using Steady = std::chrono::steady_clock;

double micros(Steady::time_point since) {
  return std::chrono::duration<double, std::micro>(Steady::now() - since).count();
}

double median(std::vector<double> all) {
  std::ranges::sort(all);
  return all.empty() ? 0 : all[all.size() / 2];
}

// By hand: one line, one line back.
std::vector<double> bare(net::Loop& loop, const std::vector<std::string>& command, int calls) {
  std::string heard;
  auto child =
      net::ChildProcess::start(loop, {.command = command, .environment = {"PATH=/usr/bin:/bin"}},
                               {.out = [&](std::string_view bytes) { heard += bytes; }, .err = {}, .ended = {}});
  std::vector<double> took;
  if (!child.ok()) return took;
  const auto ask = [&](const std::string& line) {
    heard.clear();
    (void)(*child)->send(line + "\n");
    return loop.runUntil([&] { return heard.ends_with('\n'); }, 10'000);
  };
  if (!ask(R"({"jsonrpc":"2.0","id":0,"method":"server/discover","params":{}})")) return took;
  for (int i = 0; i < calls; ++i) {
    const auto since = Steady::now();
    if (!ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get","arguments":{"text":"hello"}}})"))
      break;
    took.push_back(micros(since));
  }
  return took;
}

class Bench {
 public:
  Bench(net::Loop& loop, ToolBroker& broker) : loop_(loop), broker_(broker) {}

  // So many at once, until all have come.
  std::vector<double> run(int calls, int atOnce) {
    took_.clear(), left_ = calls;
    for (int i = 0; i < atOnce; ++i) next();
    loop_.runUntil([&] { return took_.size() == static_cast<std::size_t>(calls); }, 60'000);
    return took_;
  }

 private:
  void next() {
    if (left_-- <= 0) return;
    agents::ToolCall call{.tool = "box.get", .arguments = {{"text", "hello"}}};
    broker_.call(call, [this, since = Steady::now()](const ToolAnswer& answer) {
      if (answer.kind != ToolAnswer::Kind::done) std::fprintf(stderr, "%s\n", answer.error.c_str());
      took_.push_back(micros(since));
      next();
    });
  }

  net::Loop& loop_;
  ToolBroker& broker_;
  std::vector<double> took_;
  int left_ = 0;
};

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> command{"/usr/bin/python3", count > 1 ? words[1] : "bench/tool_server.py"};
  net::Loop loop;
  Log log(
      LogLevel::error, false, [] { return SystemClock().now(); }, [](std::string_view) {});
  ToolConfig tool{.name = "box", .kind = "mcp", .command = command, .looks = {"get"}};
  tool.perMinute = 1'000'000;
  auto broker = ToolBroker::open(loop, log, {tool}, {});
  if (!broker.ok()) return std::fprintf(stderr, "%s\n", broker.error().message.c_str()), 1;
  Bench bench(loop, **broker);
  bench.run(200, 1);
  const double own = median(bare(loop, command, 2'000)), through = median(bench.run(2'000, 1));
  const auto since = Steady::now();
  const std::size_t done = bench.run(15'000, 8).size();
  const double rate = static_cast<double>(done) * 1e6 / micros(since);
  std::printf("{\"bareMicros\":%.0f,\"brokerMicros\":%.0f,\"addedMicros\":%.0f,\"callsPerSecond\":%.0f}\n", own,
              through, through - own, rate);
  return 0;
}
