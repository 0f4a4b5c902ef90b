#include "sim/commands/sim_failure.h"

#include <vector>

#include "base/json_codec.h"
#include "sim/checkers.h"
#include "sim/duration.h"
#include "sim/options_fields.h"

namespace witan::node {

namespace {

constexpr std::size_t kWidth = 110;

std::string valueText(std::int64_t value) { return std::to_string(value); }
std::string valueText(bool value) { return value ? "true" : "false"; }
std::string valueText(const std::string& value) { return "\"" + value + "\""; }
template <NamedEnum E>
std::string valueText(E value) {
  return "\"" + std::string(enumName(value)) + "\"";
}

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

}  // namespace

std::string momentText(sim::Micros at) { return sim::formatDuration(at / 1000 * 1000); }

std::string optionsText(const sim::Options& options) {
  std::vector<std::string> defaults, usual;
  const sim::Options fresh;
  sim::forEachOption(
      fresh, [&](std::string_view, std::string_view, const auto& value) { defaults.push_back(valueText(value)); });
  std::string out = "  options of seed " + std::to_string(options.seed) + ", (default):\n";
  std::size_t n = 0;
  sim::forEachOption(options, [&](std::string_view table, std::string_view member, const auto& value) {
    const std::string path = std::string(table) + "." + std::string(member), text = valueText(value);
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
    out += "  expected: " + std::string(promise) + "\n";
  if (failure.checker == "scenario") return out;
  out += "  see it:   " + simCommandLine(source, "replay", seed) + " --text\n";
  out += "  shrink:   " + simCommandLine(source, "shrink", seed) + " --out " +
         (source.planFile.empty() ? "smallest.plan" : "smaller.plan") + "\n";
  return out;
}

}  // namespace witan::node
