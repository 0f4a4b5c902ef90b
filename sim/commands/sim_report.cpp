#include "sim/commands/sim_report.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/json.h"
#include "sim/commands/sim_failure.h"
#include "sim/duration.h"

namespace witan::node {

namespace {

constexpr std::size_t kRarest = 8;
constexpr std::size_t kInBrief = 10;

double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double simulatedSeconds(const SimReport& report) { return static_cast<double>(report.result.total.simulated) / 1e6; }
double perSecond(double count, const SimReport& report) { return count / std::max(report.wallSeconds, 1e-3); }

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// 1234567 -> "1,234,567"
std::string grouped(double value) {
  std::string digits = fixed(std::floor(value), 0);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}
std::string grouped(std::uint64_t value) { return grouped(static_cast<double>(value)); }

std::string inJson(std::string_view text) {
  std::string out;
  appendJsonString(out, text);
  return out;
}

std::string rangeText(const sim::SeedRange& range) {
  return range.first == range.last ? std::to_string(range.first)
                                   : std::to_string(range.first) + ".." + std::to_string(range.last);
}

std::string failedJson(const SimReport& report) {
  std::string out = "[";
  for (const sim::SeedResult& seed : report.result.seeds) {
    if (!seed.failure) continue;
    out += (out.size() > 1 ? ",{" : "{") + std::string("\"seed\":") + std::to_string(seed.seed) +
           ",\"checker\":" + inJson(seed.failure->checker) + ",\"reason\":" + inJson(seed.failure->reason) +
           ",\"at\":" + fixed(static_cast<double>(seed.failure->at) / 1e6, 6) +
           ",\"replay\":" + inJson(simCommandLine(report.source, "replay", seed.seed)) +
           ",\"shrink\":" + inJson(simCommandLine(report.source, "shrink", seed.seed)) + "}";
  }
  return out + "]";
}

std::string failuresByChecker(const SimReport& report) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> by;  // how many, the first seed
  for (const sim::SeedResult& seed : report.result.seeds)
    if (seed.failure) ++by.try_emplace(seed.failure->checker, 0, seed.seed).first->second.first;
  std::string out;
  for (const auto& [checker, found] : by) {
    char line[160];
    std::snprintf(line, sizeof line, "  %-20s %8s   seed %llu%s\n", checker.c_str(), grouped(found.first).c_str(),
                  static_cast<unsigned long long>(found.second), found.first > 1 ? " and others" : "");
    out += line;
  }
  return out;
}

std::string rarestProbes(const SimReport& report) {
  std::vector<std::pair<std::uint64_t, std::string>> probes;
  for (const auto& [name, count] : report.result.probes) probes.emplace_back(count, name);
  std::sort(probes.begin(), probes.end());
  if (probes.size() > kRarest) probes.resize(kRarest);
  std::string out;
  for (const auto& [count, name] : probes) {
    char line[200];
    std::snprintf(line, sizeof line, "  %-44s %12s\n", name.c_str(), grouped(count).c_str());
    out += line;
  }
  return out;
}

std::string failures(const SimReport& report) {
  std::string out;
  std::size_t told = 0;
  for (const sim::SeedResult& seed : report.result.seeds) {
    if (!seed.failure) continue;
    if (told == 0) {
      out += "\nseed " + std::to_string(seed.seed) + " failed\n";
      out += failureText(*seed.failure, report.source, seed.seed);
      if (report.options) out += optionsText(*report.options);
    } else if (told <= kInBrief) {
      out += (told == 1 ? "\nalso\n" : "") + std::string("  seed ") + std::to_string(seed.seed) + ": " +
             failureLine(*seed.failure) + "\n";
    }
    ++told;
  }
  if (told > kInBrief + 1) out += "  and " + std::to_string(told - kInBrief - 1) + " more (--json lists all)\n";
  return out;
}

}  // namespace

std::uint64_t SimReport::failed() const {
  return static_cast<std::uint64_t>(std::count_if(result.seeds.begin(), result.seeds.end(),
                                                  [](const sim::SeedResult& s) { return s.failure.has_value(); }));
}

std::string reportJson(const SimReport& report) {
  const sim::Statistics& t = report.result.total;
  const auto ran = report.result.seeds.size();
  std::string out =
      "{\"scenario\":" + inJson(report.scenario) + ",\"seeds\":" + std::to_string(ran) +
      ",\"passed\":" + std::to_string(ran - report.failed()) + ",\"failed\":" + failedJson(report) +
      ",\"simulatedSeconds\":" + fixed(simulatedSeconds(report), 6) +
      ",\"wallSeconds\":" + fixed(report.wallSeconds, 3) + ",\"traceDigest\":" + inJson(report.result.digest) +
      ",\"firstSeed\":" + std::to_string(report.range.first) + ",\"lastSeed\":" + std::to_string(report.range.last) +
      ",\"twice\":" + std::to_string(report.twice) + ",\"mutant\":" + inJson(report.source.mutant) +
      ",\"speed\":" + fixed(perSecond(simulatedSeconds(report), report), 1) +
      ",\"seedsPerMinute\":" + fixed(perSecond(static_cast<double>(ran) * 60, report), 1) +
      ",\"steps\":" + std::to_string(t.steps) + ",\"frames\":" + std::to_string(t.frames) +
      ",\"bytes\":" + std::to_string(t.bytes) + ",\"commits\":" + std::to_string(t.commits) +
      ",\"decisions\":" + std::to_string(t.decisions) + ",\"crashes\":" + std::to_string(t.crashes) +
      ",\"missedProbes\":[";
  for (const std::string& probe : report.missedProbes) out += (out.back() == '[' ? "" : ",") + inJson(probe);
  out += "],\"probes\":{";
  for (const auto& [name, count] : report.result.probes)
    out += (out.back() == '{' ? "" : ",") + inJson(name) + ":" + std::to_string(count);
  return out + "}}\n";
}

std::string reportText(const SimReport& report) {
  const sim::Statistics& t = report.result.total;
  const auto ran = report.result.seeds.size();
  const double wall = report.wallSeconds;
  std::string out;
  const auto row = [&](const char* name, const std::string& text) {
    char start[24];
    std::snprintf(start, sizeof start, "%-11s", name);
    out += start + text + "\n";
  };
  row("scenario", report.scenario + (report.source.mutant == "none" ? "" : ", mutant " + report.source.mutant));
  row("seeds", grouped(ran) + " (" + rangeText(report.range) + "), " + grouped(report.twice) + " of them run twice");
  row("passed", grouped(ran - report.failed()));
  row("failed", grouped(report.failed()));
  row("simulated", sim::formatDuration(t.simulated / 1'000'000 * 1'000'000) + " in " + fixed(wall, wall < 10 ? 2 : 0) +
                       " s: " + grouped(perSecond(simulatedSeconds(report), report)) + " times as fast as life");
  row("speed", grouped(perSecond(static_cast<double>(ran) * 60, report)) + " seeds a minute, " +
                   grouped(perSecond(static_cast<double>(t.steps), report)) + " steps a second");
  row("happened", grouped(t.commits) + " commits, " + grouped(t.decisions) + " decisions, " + grouped(t.crashes) +
                      " crashes, " + grouped(t.frames) + " frames");
  row("trace", report.result.digest);
  if (report.failed() > 0) out += "failures by checker\n" + failuresByChecker(report);
  out += "rarest probes\n" + rarestProbes(report);
  for (const std::string& probe : report.missedProbes)
    out += "never reached, though the scenario expects it: " + probe + "\n";
  return out + failures(report);
}

SimProgressBar::SimProgressBar() : from_(steadySeconds()), terminal_(::isatty(STDERR_FILENO) == 1) {}

SimProgressBar::~SimProgressBar() {
  if (terminal_ && shownAt_ > 0) std::fputs("\r\033[K", stderr);
}

double SimProgressBar::seconds() const { return steadySeconds() - from_; }

void SimProgressBar::show(const sim::JobsProgress& progress) {
  constexpr std::size_t kBar = 30;
  const double now = seconds();
  if (now < 1 || now - shownAt_ < (terminal_ ? 0.1 : 15.0)) return;
  shownAt_ = now;
  if (!terminal_) {
    std::fprintf(stderr, "%s of %s seeds, %s failed, %.0f s so far\n", grouped(progress.done).c_str(),
                 grouped(progress.of).c_str(), grouped(progress.failed).c_str(), now);
    return;
  }
  const double share = static_cast<double>(progress.done) / static_cast<double>(progress.of);
  std::string bar(static_cast<std::size_t>(share * kBar), '#');
  bar.resize(kBar, '.');
  std::fprintf(stderr, "\r[%s] %s of %s seeds, %s failed, %s x life, %.0f s left\033[K", bar.c_str(),
               grouped(progress.done).c_str(), grouped(progress.of).c_str(), grouped(progress.failed).c_str(),
               grouped(static_cast<double>(progress.simulated) / 1e6 / now).c_str(), now / share - now);
  std::fflush(stderr);
}

}  // namespace witan::node
