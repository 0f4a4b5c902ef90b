#include "sim/commands/sim_report.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/json_codec.h"
#include "base/quote.h"
#include "sim/catalog.h"
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

constexpr std::size_t kWidth = 110;

// One after the other, in lines of a readable width.
std::string filled(const std::vector<std::string>& parts) {
  std::string out, line = "   ";
  for (const std::string& part : parts) {
    if (line.size() + part.size() + 2 > kWidth) {
      out += line + "\n";
      line = "   ";
    }
    line += " " + part + (&part == &parts.back() ? "" : ",");
  }
  return out + line + "\n";
}

std::string rangeText(const sim::SeedRange& range) {
  return range.first == range.last ? std::to_string(range.first) : concat(range.first, "..", range.last);
}

std::string failedJson(const SimReport& report) {
  std::string out = "[";
  for (const sim::SeedResult& seed : report.result.seeds) {
    if (!seed.failure) continue;
    out += concat(out.size() > 1 ? ",{" : "{", "\"seed\":", seed.seed,
                  ",\"checker\":", jsonQuoted(seed.failure->checker), ",\"reason\":", jsonQuoted(seed.failure->reason),
                  ",\"at\":", fixed(static_cast<double>(seed.failure->at) / 1e6, 6),
                  ",\"replay\":", jsonQuoted(simCommandLine(report.source, "replay", seed.seed)),
                  ",\"shrink\":", jsonQuoted(simCommandLine(report.source, "shrink", seed.seed)), "}");
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
  std::ranges::sort(probes);
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
      out += concat("\nseed ", seed.seed, " failed\n");
      out += failureText(*seed.failure, report.source, seed.seed);
      if (report.options) out += optionsText(*report.options);
    } else if (told <= kInBrief) {
      out += concat(told == 1 ? "\nalso\n" : "", "  seed ", seed.seed, ": ", failureLine(*seed.failure), "\n");
    }
    ++told;
  }
  if (told > kInBrief + 1) out += concat("  and ", told - kInBrief - 1, " more (--json lists all)\n");
  return out;
}

}  // namespace

std::string momentText(sim::Micros at) { return sim::formatDuration(at / 1000 * 1000); }

std::string optionsText(const sim::Options& options) {
  std::vector<std::string> defaults, usual;
  const sim::Options fresh;
  sim::forEachOption(fresh,
                     [&](std::string_view, std::string_view, const auto& value) { defaults.push_back(toJson(value)); });
  std::string out = concat("  options of seed ", options.seed, ", (default):\n");
  std::size_t n = 0;
  sim::forEachOption(options, [&](std::string_view table, std::string_view member, const auto& value) {
    const std::string path = concat(table, ".", member), text = toJson(value);
    const std::string& usually = defaults[n++];
    if (text == usually)
      usual.push_back(path + " " + text);
    else
      out += "    " + path + " = " + text + "  (" + usually + ")\n";
  });
  return out + "  as by default:\n" + filled(usual);
}

std::string failureLine(const sim::Failure& failure) {
  const std::string at = failure.at > 0 ? " at " + momentText(failure.at) : std::string();
  return failure.checker + at + ": " + failure.reason;
}

std::string failureText(const sim::Failure& failure, const SimSource& source, std::uint64_t seed) {
  std::string out = "  " + failureLine(failure) + "\n";
  if (const std::string_view promise = sim::checkerPromise(failure.checker); !promise.empty())
    out += concat("  expected: ", promise, "\n");
  if (failure.checker == "scenario") return out;
  out += "  see it:   " + simCommandLine(source, "replay", seed) + " --text\n";
  out += "  shrink:   " + simCommandLine(source, "shrink", seed) + " --out " +
         (source.planFile.empty() ? "smallest.plan" : "smaller.plan") + "\n";
  return out;
}

std::uint64_t SimReport::failed() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(result.seeds, [](const sim::SeedResult& s) { return s.failure.has_value(); }));
}

std::string reportJson(const SimReport& report) {
  const sim::Statistics& t = report.result.total;
  const auto ran = report.result.seeds.size();
  std::string out =
      concat("{\"scenario\":", jsonQuoted(report.scenario), ",\"seeds\":", ran, ",\"passed\":", ran - report.failed(),
             ",\"failed\":", failedJson(report), ",\"simulatedSeconds\":", fixed(simulatedSeconds(report), 6),
             ",\"wallSeconds\":", fixed(report.wallSeconds, 3), ",\"traceDigest\":", jsonQuoted(report.result.digest),
             ",\"firstSeed\":", report.range.first, ",\"lastSeed\":", report.range.last, ",\"twice\":", report.twice,
             ",\"mutant\":", jsonQuoted(report.source.mutant),
             ",\"speed\":", fixed(perSecond(simulatedSeconds(report), report), 1),
             ",\"seedsPerMinute\":", fixed(perSecond(static_cast<double>(ran) * 60, report), 1), ",\"steps\":", t.steps,
             ",\"frames\":", t.frames, ",\"bytes\":", t.bytes, ",\"commits\":", t.commits,
             ",\"decisions\":", t.decisions, ",\"crashes\":", t.crashes, ",\"missedProbes\":[");
  for (const std::string& probe : report.missedProbes) out += (out.back() == '[' ? "" : ",") + jsonQuoted(probe);
  out += "],\"probes\":{";
  for (const auto& [name, count] : report.result.probes)
    out += concat(out.back() == '{' ? "" : ",", jsonQuoted(name), ":", count);
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
