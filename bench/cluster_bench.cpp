// A running node: how fast proposals that it is given over its control API are decided, by it or by the node that owns
// the entities. The nodes are processes of the program; this one has only their addresses.
//
//   witan_cluster_bench --url NODE --token T [--callers 64] [--seconds 10]
//
// bench/run-cluster.sh deploys the nodes and calls it.
#include <memory>

#include "base/json.h"
#include "bench/bench_tools.h"
#include "net/http_client.h"
#include "net/loop.h"

namespace witan::bench {
namespace {

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
                                        {"entity", "team-" + std::to_string(n % entities)},
                                        {"role", "A"},
                                        {"operationId", "bench-" + run + "-" + std::to_string(n)},
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
  net::HttpClientOptions options;
  options.connections = callers;
  options.maxQueued = callers * 2 + 512;
  return options;
}

int run(const Arguments& arguments) {
  const std::string url = arguments.text("--url", ""), token = arguments.text("--token", "");
  const std::string run = arguments.text("--run", "1");
  const std::uint64_t callers = arguments.number("--callers", 64), seconds = arguments.number("--seconds", 10);
  net::Loop loop;
  Callers all{loop, net::HttpClient(loop, {.address = url}, optionsFor(callers)), token, run, 256};
  std::uint64_t begun = 0;
  for (std::uint64_t i = 0; i < all.entities; ++i)
    all.client.request(all.post("/v1/entities", {{"domain", "budget"}, {"entity", "team-" + std::to_string(i)}}),
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
  return witan::bench::run({argc, argv, {"--url", "--token", "--run", "--callers", "--seconds"}});
}
