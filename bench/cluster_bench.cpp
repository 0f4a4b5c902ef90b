// Running nodes, asked over their control APIs. They are processes of the program; this one has only their addresses.
//
//   witan_cluster_bench --url NODE --token T [--callers 64] [--seconds 10]    proposals, decided here or by the owner
//   witan_cluster_bench --url NODE --token T --live 500 --see NODE --see-token T
//       how soon a decision and a journal entry of one node are seen on another
//   witan_cluster_bench --url NODE --token T --agents 10000                   makes agents
//
// bench/run-cluster.sh deploys the nodes and calls it.
#include <memory>
#include <optional>

#include "base/json.h"
#include "bench/bench_tools.h"
#include "net/event_parser.h"
#include "net/http_client.h"
#include "net/loop.h"

namespace witan::bench {
namespace {

constexpr int kPatienceMs = 60'000;

// One node, with one call at a time.
struct Node {
  net::Loop& loop;
  net::HttpClient client;
  std::string token;

  void authorise(net::HttpRequest& request) const { request.headers["authorization"] = "Bearer " + token; }
  net::HttpResponse ask(net::HttpRequest request) {
    const std::string target = request.target;
    authorise(request);
    std::optional<Result<net::HttpResponse>> answer;
    client.request(std::move(request), [&](Result<net::HttpResponse> got) { answer = std::move(got); });
    if (!loop.runUntil([&] { return answer.has_value(); }, kPatienceMs) || !answer->ok())
      fail(target + ": " + (answer ? answer->error().message : std::string("no answer")));
    return std::move(**answer);
  }
  json::value post(const std::string& path, const json::object& body) {
    net::HttpRequest request{.method = "POST", .target = path, .body = canonicalJson(body)};
    request.headers["content-type"] = "application/json";
    const net::HttpResponse answer = ask(std::move(request));
    if (answer.status != 200) fail(path + ": " + answer.body);
    return must(parseJson(answer.body), "an answer");
  }
  bool exists(const std::string& target) { return ask({.method = "GET", .target = target}).status == 200; }
};

void say(const char* what, const std::vector<double>& seconds) {
  std::printf("%s: p50 %.2f ms, p99 %.2f ms, slowest %.2f ms of %zu\n", what, 1e3 * quantile(seconds, 0.5),
              1e3 * quantile(seconds, 0.99), 1e3 * quantile(seconds, 1), seconds.size());
}

// From the call at one node until the other one's stream of entries says it.
std::vector<double> liveDecisions(Node& here, Node& there, std::uint64_t count) {
  here.post("/v1/entities", {{"domain", "budget"}, {"entity", "live"}});
  std::string seen;
  bool gone = false;
  net::EventParser parser;
  net::HttpRequest watch{.method = "GET", .target = "/v1/ledger/stream?domain=budget&entity=live"};
  there.authorise(watch);
  there.client.stream(
      std::move(watch),
      [&](std::string_view chunk) {
        return parser
            .feed(chunk,
                  [&](const net::ServerEvent& event) {
                    seen = event.data;
                    return true;
                  })
            .ok();
      },
      [&](const Status&) { gone = true; });
  std::vector<double> seconds;
  const std::string run = std::to_string(SystemClock().now().micros);
  for (std::uint64_t n = 0; n <= count; ++n) {
    const std::string operation = concat("live-", run, "-", n);
    const Stopwatch clock;
    here.post("/v1/propose", {{"domain", "budget"},
                              {"entity", "live"},
                              {"role", "A"},
                              {"operationId", operation},
                              {"action", {{"type", "SpendA"}, {"n", 1}}}});
    const auto said = [&] { return seen.find(operation) != std::string::npos; };
    const bool came = here.loop.runUntil(said, n == 0 ? 2'000 : kPatienceMs);
    if (gone || (!came && n > 0)) fail("the stream of entries ended, or lacks one");
    if (n > 0) seconds.push_back(clock.seconds());  // the first may have come before the stream was open
    (void)here.loop.runUntil([] { return false; }, 5);
  }
  return seconds;
}

// Until the other node answers with it, asked again and again.
std::vector<double> liveJournal(Node& here, Node& there, std::uint64_t count, std::vector<double>& questions) {
  std::vector<double> seconds;
  const std::string run = std::to_string(SystemClock().now().micros);
  for (std::uint64_t n = 0; n < count; ++n) {
    const std::string id = concat("live/", run, "/", n);
    const Stopwatch watch;
    here.post("/v1/feed", {{"id", id}, {"type", "note"}, {"payload", "now"}});
    for (bool found = false; !found;) {
      const Stopwatch question;
      found = there.exists("/v1/journal/get?id=" + id);
      questions.push_back(question.seconds());
      if (watch.seconds() > 60) fail("the entry " + id + " did not come");
    }
    seconds.push_back(watch.seconds());
  }
  return seconds;
}

int live(const Arguments& arguments, net::Loop& loop, Node& here) {
  Node there{loop, net::HttpClient(loop, {.address = arguments.text("--see", "")}), arguments.text("--see-token", "")};
  const std::uint64_t count = arguments.number("--live", 500);
  say("a decision, until the other node's stream says it", liveDecisions(here, there, count));
  std::vector<double> questions;
  say("a journal entry, until the other node answers with it", liveJournal(here, there, count, questions));
  say("  a question to it", questions);
  return 0;
}

int makeAgents(Node& here, std::uint64_t count) {
  const Stopwatch watch;
  for (std::uint64_t n = 0; n < count; ++n) here.post("/v1/agent/create", {{"id", concat("agent-", n)}});
  std::printf("%llu agents made in %.1f s\n", static_cast<unsigned long long>(count), watch.seconds());
  return 0;
}

struct Callers {
  net::Loop& loop;
  net::HttpClient client;
  std::string token, run;
  std::uint64_t entities = 0, next = 0, done = 0, wrong = 0;
  bool stopped = false;
  std::uint64_t underWay = 0;
  std::vector<double> latencies;

  net::HttpRequest post(const std::string& path, const json::object& body) const {
    net::HttpRequest request{.method = "POST", .target = path, .body = canonicalJson(body)};
    request.headers["authorization"] = "Bearer " + token;
    request.headers["content-type"] = "application/json";
    return request;
  }

  void one() {
    const std::uint64_t n = next++;
    const auto began = std::make_shared<Stopwatch>();
    ++underWay;
    client.request(post("/v1/propose", {{"domain", "budget"},
                                        {"entity", concat("team-", n % entities)},
                                        {"role", "A"},
                                        {"operationId", concat("bench-", run, "-", n)},
                                        {"action", {{"type", "SpendA"}, {"n", 1}}}}),
                   [this, began](Result<net::HttpResponse> answer) {
                     --underWay;
                     ++done;
                     latencies.push_back(began->seconds());
                     if (!answer.ok() || answer->status != 200) ++wrong;
                     if (!stopped) one();
                   });
  }
};

net::HttpClientOptions optionsFor(std::uint64_t callers) {
  net::HttpClientOptions options{.maxQueued = callers * 2 + 512, .connections = callers};
  return options;
}

int run(const Arguments& arguments) {
  const std::string url = arguments.text("--url", ""), token = arguments.text("--token", "");
  const std::string run = arguments.text("--run", "1");
  const std::uint64_t callers = arguments.number("--callers", 64), seconds = arguments.number("--seconds", 10);
  net::Loop loop;
  Node here{loop, net::HttpClient(loop, {.address = url}), token};
  if (const std::uint64_t agents = arguments.number("--agents", 0); agents > 0) return makeAgents(here, agents);
  if (arguments.number("--live", 0) > 0) return live(arguments, loop, here);
  Callers all{loop, net::HttpClient(loop, {.address = url}, optionsFor(callers)), token, run, 256};
  std::uint64_t begun = 0;
  for (std::uint64_t i = 0; i < all.entities; ++i)
    all.client.request(all.post("/v1/entities", {{"domain", "budget"}, {"entity", concat("team-", i)}}),
                       [&](Result<net::HttpResponse> answer) { begun += answer.ok() ? 1 : 0; });
  if (!loop.runUntil([&] { return begun == all.entities; }, 60'000)) return std::puts("the entities did not begin"), 1;
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < callers; ++i) all.one();
  (void)loop.runUntil([&] { return watch.seconds() >= static_cast<double>(seconds); }, 600'000);
  const double took = watch.seconds();
  const std::uint64_t done = all.done;
  all.stopped = true;
  (void)loop.runUntil([&] { return all.underWay == 0; }, 60'000);
  std::printf("%llu callers: %.0f decisions/s, p50 %.2f ms, p99 %.2f ms, %llu wrong\n",
              static_cast<unsigned long long>(callers), static_cast<double>(done) / took,
              1e3 * quantile(all.latencies, 0.5), 1e3 * quantile(all.latencies, 0.99),
              static_cast<unsigned long long>(all.wrong));
  return all.wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace witan::bench

int main(int argc, char** argv) {
  return witan::bench::run(
      {argc,
       argv,
       {"--url", "--token", "--run", "--callers", "--seconds", "--live", "--see", "--see-token", "--agents"}});
}
