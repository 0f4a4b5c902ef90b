#include "sim/options.h"

#include <algorithm>
#include <utility>

#include "base/quote.h"
#include "base/string_util.h"
#include "domains/registry.h"
#include "sim/plan.h"

namespace witan::sim {

namespace {

constexpr std::int64_t kTenYears = 10LL * 366 * 86'400;

constexpr OptionRange kRanges[] = {
    {"cluster", "devices", 1, 1'000, 1},
    {"cluster", "ledgerReplicas", 1, 24, 1},
    {"cluster", "agents", 0, 1'000, 1},
    {"cluster", "hosts", 0, 24},
    {"cluster", "retentionDays", 0, 3'660},
    {"cluster", "entities", 1, 10'000, 1},
    {"cluster", "partitions", 1, 64, 1},
    {"cluster", "pendingTtlSeconds", 0, 366 * 24 * 3600},
    {"cluster", "scopes", 0, 16, 0},
    {"cluster", "marketLiar", 0, 3, 0},
    {"cluster", "liar", 0, 24, 0},
    {"cluster", "copies", 0, 1, 0},
    {"cluster", "ledgerCopies", 0, 24, 0},
    {"cluster", "keepEntries", 0, 1'000'000, 0},
    {"cluster", "sites", 0, 24, 0},
    {"cluster", "segmentBytes", 1, 1 << 20},
    {"cluster", "followWindow", 1, 1'000},
    {"cluster", "etcdRequestBytes", 0, 1 << 30},
    {"time", "seconds", 1, kTenYears},
    {"time", "settleSeconds", 1, kTenYears},
    {"time", "skewMs", 0, kTenYears * 1'000, 0},
    {"time", "driftPpm", 0, 100'000, 0},
    {"network", "delayMinMicros", 0, kTenYears * 1'000'000, 0},
    {"network", "delayMeanMicros", 0, kTenYears * 1'000'000, 0},
    {"network", "bytesPerSecond", 0, 1'000'000'000'000, 0},
    {"network", "lossPerMillion", 0, 1'000'000, 0},
    {"network", "duplicatePerMillion", 0, 1'000'000, 0},
    {"network", "reorderPerMillion", 0, 1'000'000, 0},
    {"network", "resetPerMillion", 0, 1'000'000, 0},
    {"network", "chords", 0, 5},
    {"network", "links", 0, 64},
    {"disk", "syncMicros", 0, kTenYears * 1'000'000, 0},
    {"disk", "keepPercent", 0, 100},
};

OptionRange rangeOf(std::string_view table, std::string_view member) {
  for (const OptionRange& range : kRanges)
    if (range.table == table && range.member == member) return range;
  const std::int64_t unit = unitOf(member);
  return {table, member, 0, unit == 0 ? 1'000'000 : kTenYears * 1'000'000 / unit};
}

Status checkNumber(std::string_view table, std::string_view member, std::int64_t value) {
  const OptionRange bounds = rangeOf(table, member);
  if (value >= bounds.low && value <= bounds.high) return okStatus();
  return invalid(concat(table, ".", member, " is ", value, " (it must be ", bounds.low, " to ", bounds.high, ")"));
}

Status checkDomains(const Options& options) {
  const auto all = domains::domainNames();
  const std::string known = "known: " + joined(all);
  const auto named = domainsOf(options);
  for (const std::string& name : named) {
    if (std::ranges::find(all, name) == all.end())
      return invalid("cluster.domains: there is no domain " + inQuotes(name), known);
    if (std::ranges::count(named, name) > 1)
      return invalid("cluster.domains: " + inQuotes(name) + " stands there twice");
  }
  return named.empty() ? invalid("cluster.domains names none", known) : okStatus();
}

}  // namespace

std::span<const OptionRange> optionRanges() { return kRanges; }

std::optional<std::uint32_t> liarOf(const ClusterOptions& cluster) {
  if (cluster.liar == 0 || cluster.devices < 2 || cluster.engine == Engine::etcd) return std::nullopt;
  const auto index = static_cast<std::uint32_t>((cluster.liar - 1) % cluster.devices);
  return index == 0 && cluster.ledgerReplicas == 1 ? 1 : index;
}

bool hasKeys(const ClusterOptions& cluster) {
  return liarOf(cluster).has_value() || (cluster.keepEntries > 0 && cluster.engine != Engine::etcd);
}

std::optional<std::uint32_t> copierOf(const ClusterOptions& cluster) {
  const auto last = static_cast<std::uint32_t>(cluster.devices - 1);
  const bool busy = cluster.devices < 3 || last < cluster.ledgerReplicas || last < cluster.hosts;
  if (cluster.copies == 0 || busy || liarOf(cluster) == last) return std::nullopt;
  return last;
}

std::vector<std::string> domainsOf(const Options& options) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : options.cluster.domains + " ") {
    if (c != ' ' && c != ',') {
      name += c;
    } else if (!name.empty()) {
      names.push_back(std::exchange(name, {}));
    }
  }
  return names;
}

std::int64_t unitOf(std::string_view member) {
  if (member == "seconds" || member.ends_with("Seconds")) return 1'000'000;
  if (member.ends_with("Micros")) return 1;
  if (member.ends_with("Millis") || member.ends_with("Ms")) return 1'000;
  return member.ends_with("Hours") ? kMicrosPerHour : 0;
}

bool isFaultRate(std::string_view table, std::string_view member) { return table == "faults" && unitOf(member) == 0; }

Status checkOptions(const Options& options) {
  Status status = okStatus();
  std::int64_t perHour = 0;
  forEachOption(options, [&](std::string_view table, std::string_view member, const auto& value) {
    if constexpr (std::is_same_v<decltype(value), const std::int64_t&>) {
      if (status.ok()) status = checkNumber(table, member, value);
      if (table == "work" || isFaultRate(table, member)) perHour += value;
    }
  });
  if (!status.ok()) return status;
  if (options.cluster.liar > 0 && options.cluster.devices > kMostSigningDevices)
    return invalid(concat("cluster.liar: at most ", kMostSigningDevices, " devices have keys"));
  if (options.network.links > 0 && options.network.links < 4) return invalid("network.links is 0, or at least 4");
  WITAN_DO(checkDomains(options));
  // Twice the expected number: a draw beyond that is as good as impossible for numbers this large.
  const double expected = static_cast<double>(perHour) * static_cast<double>(options.time.seconds) / 3600;
  if (expected * 2 > static_cast<double>(kMaxEvents))
    return invalid(concat("about ", static_cast<std::int64_t>(expected), " events are expected (a plan holds half of ",
                          kMaxEvents, ")"),
                   "lower the rates or the time");
  return okStatus();
}

}  // namespace witan::sim
