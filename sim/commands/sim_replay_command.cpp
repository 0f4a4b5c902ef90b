// `witan sim replay`: one run again, told: as text, as a trace for a viewer, or only why it failed.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include "program/command_line.h"

#include "sim/active_mutant.h"
#include "sim/commands/sim_command.h"
#include "sim/commands/sim_failure.h"
#include "sim/commands/sim_story.h"
#include "sim/duration.h"
#include "sim/jobs.h"
#include "sim/run_result_text.h"
#include "sim/trace_perfetto.h"
#include "sim/trace_text.h"

namespace witan::node {

namespace {

struct ReplayArguments {
  SimSource source;
  std::string trace;
  bool text = false;
  bool verbose = false;
  std::string only, from, to;
  std::string limit = "10m";
  bool json = false;
};

using File = std::unique_ptr<FILE, int (*)(FILE*)>;

void put(FILE* file, std::string_view text) { std::fwrite(text.data(), 1, text.size(), file); }

bool wantsText(const ReplayArguments& a) {
  return a.text || a.verbose || !a.only.empty() || !a.from.empty() || !a.to.empty();
}

Result<sim::TraceFilter> filterOf(const ReplayArguments& a) {
  sim::TraceFilter filter;
  filter.frames = a.verbose;
  WITAN_DO(sim::readOnly(a.only, filter));
  if (!a.from.empty()) {
    WITAN_TRY(from, sim::parseDuration(a.from));
    filter.from = from;
  }
  if (!a.to.empty()) {
    WITAN_TRY(to, sim::parseDuration(a.to));
    filter.to = to;
  }
  return filter;
}

// Runs in a process of its own. Every line is handed to the system at once: what kills the run leaves what was told.
Result<sim::RunResult> runTold(const ReplayArguments& a, const sim::Plan& plan, const sim::TraceFilter& filter,
                               FILE* file, unsigned seconds) {
  const auto told = [file](std::string_view text) { put(file, text); };
  sim::PerfettoTrace perfetto(told);
  if (file != nullptr) perfetto.begin(plan.options.scenario + ", seed " + std::to_string(plan.options.seed));
  const bool text = wantsText(a);
  sim::RunOptions options;
  if (text || file != nullptr)
    options.trace = [&](const sim::TraceLine& line) {
      if (file != nullptr) {
        perfetto.add(line);
        std::fflush(file);
      }
      if (!text || !filter.lets(line)) return;
      put(stdout, sim::traceText(line) + "\n");
      std::fflush(stdout);
    };
  std::fflush(stdout);
  if (file != nullptr) std::fflush(file);
  auto result = sim::runIsolated([&] { return sim::run(plan, options); }, seconds);
  if (file != nullptr) put(file, sim::PerfettoTrace::end());
  return result;
}

std::string closing(const ReplayArguments& a, const sim::Plan& plan, const sim::RunResult& result) {
  const sim::Statistics& s = result.statistics;
  const std::string which = plan.options.scenario + ", seed " + std::to_string(plan.options.seed);
  if (!result.failure)
    return which + ": passed; " + momentText(s.simulated) + " simulated, " + std::to_string(s.steps) + " steps, " +
           std::to_string(s.commits) + " commits, " + std::to_string(s.decisions) + " decisions; digest " +
           sim::hexDigest(result.digest) + "\n";
  std::string out;
  const std::string story = storyOf(plan, *result.failure);
  const bool toldAlready = wantsText(a) && story.find(kLinesLeftOut) == std::string::npos;
  if (!story.empty() && !toldAlready)
    out += "the last faults, what names the same things as the failure, and the last lines:\n" + story + "\n";
  out += which + ": failed\n" + failureText(*result.failure, a.source, plan.options.seed);
  if (result.digest != 0) out += "  digest:   " + sim::hexDigest(result.digest) + "\n";
  return out;
}

Result<int> replay(const ReplayArguments& a) {
  WITAN_DO(sim::activateMutant(a.source.mutant));
  if (a.json && wantsText(a)) return invalid("--json together with text", "give one of them");
  WITAN_TRY(filter, filterOf(a));
  WITAN_TRY(limit, sim::parseDuration(a.limit));
  WITAN_TRY(plan, loadPlan(a.source));
  File file(nullptr, std::fclose);
  if (!a.trace.empty()) {
    file.reset(std::fopen(a.trace.c_str(), "we"));
    if (!file) return ioFailed("cannot write " + a.trace + " (" + std::strerror(errno) + ")");
  }
  const auto seconds = static_cast<unsigned>(std::min<std::int64_t>(limit / 1'000'000, 1'000'000));
  WITAN_TRY(result, runTold(a, plan, filter, file.get(), seconds));
  if (file && (std::fflush(file.get()) != 0 || std::ferror(file.get()) != 0))
    return ioFailed("cannot write " + a.trace + " (" + std::strerror(errno) + ")");
  put(stdout, a.json ? sim::writeRunResult(result) + "\n" : closing(a, plan, result));
  if (!a.trace.empty()) std::fprintf(stderr, "%s opens in ui.perfetto.dev\n", a.trace.c_str());
  return result.failure ? kExitFailed : kExitOk;
}

}  // namespace

void addSimReplay(Command& sim, int& exitCode) {
  const auto arguments = std::make_shared<ReplayArguments>();
  Command* command = sim.command("replay", "Run one seed or plan again, and tell what happens");
  addSourceOptions(*command, arguments->source);
  command->flag("--text", arguments->text, "Every event as a line, but single frames");
  command->flag("--verbose", arguments->verbose, "Every event as a line, frames too");
  command->option("--only", arguments->only, "Lines of these devices and categories, as in device-3,ledger");
  command->option("--from", arguments->from, "Lines from this moment on, as in 2m");
  command->option("--to", arguments->to, "Lines up to this moment, as in 2m30s");
  command->option("--trace", arguments->trace, "Write a trace for ui.perfetto.dev")->typeName("FILE");
  command->option("--limit", arguments->limit, "Give up after so long; 0s: never")->showDefault();
  command->flag("--json", arguments->json, "The result as JSON");
  command->footer("Example: witan sim replay split-brain --seed 7 --text --only device-0,ledger --from 2m");
  command->callback([arguments, &exitCode] {
    const auto code = replay(*arguments);
    exitCode = code.ok() ? *code : reportSimError(code.error(), arguments->json);
  });
}

}  // namespace witan::node
