// `witan sim replay`: one run again, told: as text, as a trace for a viewer, or only why it failed.
#include <sys/mman.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include "program/command_line.h"

#include "sim/commands/sim_command.h"
#include "sim/commands/sim_report.h"
#include "sim/duration.h"
#include "sim/jobs.h"
#include "sim/mutants.h"
#include "sim/run.h"
#include "sim/trace_text.h"

namespace witan::node {

namespace {

// ---- the lines that lead to a failure
//
// The lines that lead to a failure: a run is made once more, in a process of its own, and of everything that it tells
// the last faults, the last lines that name what the failure names, and the last lines of all are kept. They survive
// whatever happens to that process. Bounded memory.

constexpr std::string_view kLinesLeftOut = "   ...\n";
constexpr std::size_t kAbout = 24, kFaults = 10, kLast = 12;
constexpr std::size_t kLineMost = 400;
constexpr unsigned kSecondsMost = 600;

using Lines = std::map<std::uint64_t, std::string>;  // by their number in the run

// The last lines of a run, in memory that a child process shares with its parent.
class SharedLines {
 public:
  explicit SharedLines(std::size_t count) : count_(count) {
    void* memory = ::mmap(nullptr, count * sizeof(Slot), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    slots_ = memory == MAP_FAILED ? nullptr : static_cast<Slot*>(memory);
  }
  SharedLines(const SharedLines&) = delete;
  ~SharedLines() {
    if (slots_ != nullptr) ::munmap(slots_, count_ * sizeof(Slot));
  }

  void add(std::uint64_t number, std::string_view line) {
    if (slots_ == nullptr) return;
    Slot& slot = slots_[next_++ % count_];
    slot.number = 0;  // not whole
    slot.size = std::min(line.size(), kLineMost);
    std::memcpy(slot.text, line.data(), slot.size);
    slot.number = number;
  }
  void appendTo(Lines& out) const {
    for (std::size_t i = 0; slots_ != nullptr && i < count_; ++i)
      if (slots_[i].number != 0) out[slots_[i].number] = std::string(slots_[i].text, slots_[i].size);
  }

 private:
  struct Slot {
    std::uint64_t number;  // from 1
    std::size_t size;
    char text[kLineMost];
  };
  const std::size_t count_;
  std::size_t next_ = 0;
  Slot* slots_ = nullptr;
};

// "op-1" is not in "op-12".
bool mentions(std::string_view line, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      const bool begins = at == 0 || std::isalnum(static_cast<unsigned char>(line[at - 1])) == 0;
      if (begins && (end == line.size() || std::isalnum(static_cast<unsigned char>(line[end])) == 0)) return true;
    }
  return false;
}

// Lines with their ends. Empty: the failure is one of time ("hang"), or the run cannot be made again.
std::string storyOf(const sim::Plan& plan, const sim::Failure& failure) {
  if (failure.checker == "hang") return {};
  const std::vector<std::string> names = sim::namesIn(failure.reason);
  SharedLines about(kAbout), faults(kFaults), last(kLast);
  sim::RunOptions options;
  std::uint64_t number = 0;
  options.trace = [&](const sim::TraceLine& line) {
    const std::string text = sim::traceText(line);
    const bool named = mentions(text, names);
    if (line.flow != 0 && !named) return;
    ++number;
    if (named) about.add(number, text);
    if (line.category == "fault") faults.add(number, text);
    if (line.flow == 0) last.add(number, text);
  };
  const auto again = sim::runIsolated([&] { return sim::run(plan, options); }, kSecondsMost);
  if (!again.ok()) return {};
  Lines lines;
  for (const SharedLines* kept : {&about, &faults, &last}) kept->appendTo(lines);
  std::string out;
  std::uint64_t before = 0;
  for (const auto& [at, text] : lines) {
    if (at != before + 1) out += kLinesLeftOut;
    out += text + "\n";
    before = at;
  }
  return out;
}

// ---- the command

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
    WITAN_SET(filter.from, sim::parseDuration(a.from));
  }
  if (!a.to.empty()) {
    WITAN_SET(filter.to, sim::parseDuration(a.to));
  }
  return filter;
}

// Runs in a process of its own. Every line is handed to the system at once: what kills the run leaves what was told.
Result<sim::RunResult> runTold(const ReplayArguments& a, const sim::Plan& plan, const sim::TraceFilter& filter,
                               FILE* file, unsigned seconds) {
  const auto told = [file](std::string_view text) { put(file, text); };
  sim::PerfettoTrace perfetto(told);
  if (file != nullptr) perfetto.begin(concat(plan.options.scenario, ", seed ", plan.options.seed));
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
  const std::string which = concat(plan.options.scenario, ", seed ", plan.options.seed);
  if (!result.failure)
    return concat(which, ": passed; ", momentText(s.simulated), " simulated, ", s.steps, " steps, ", s.commits,
                  " commits, ", s.decisions, " decisions; digest ", sim::hexDigest(result.digest), "\n");
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

void addSimReplay(Command& sim) {
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
  runs(command, arguments, replay, reportSimError);
}

}  // namespace witan::node
