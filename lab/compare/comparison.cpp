#include "lab/compare/comparison.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "kernel/history_check.h"

namespace witan::compare {

using namespace kernel;

namespace {

constexpr std::array<const char*, 4> kNames{"naive services", "judge", "sagas", "kernel"};
constexpr std::size_t kKernel = 3;

// One trace through all architectures.
class Trace {
 public:
  Trace(const DomainModule& module, const ComparisonOptions& options, std::uint64_t seed)
      : module_(module), random_(seed) {
    EntityPtr start = beginning();
    const Person person = [this](const EntityState& seen, const Act& act) { return editFor(seen, *act.action); };
    const auto copy = [&] { return module_.clone(*start); };
    all_.push_back(naiveServices(module, copy(), options.latencies, person));
    all_.push_back(judge(module, copy(), options.latencies, person, options.errorRate, seed + 1'000'000));
    all_.push_back(sagas(module, copy(), options.latencies, person));
    all_.push_back(adjudication(module, copy(), options.latencies, person));
  }

  void round() {
    now_.micros += static_cast<std::int64_t>(1 + random_.below(86'400)) * kMicrosPerSecond;
    if (random_.below(12) == 0) now_.micros += static_cast<std::int64_t>(random_.below(40)) * kMicrosPerDay;
    std::vector<ActionPtr> actions;
    for (const RoleInfo& role : module_.signature().roles)
      if (random_.below(2) == 0)
        if (ActionPtr action = proposalOf(role.name)) actions.push_back(std::move(action));
    std::vector<Act> acts;
    for (const ActionPtr& action : actions) acts.push_back({roleOf(*action), action.get(), now_});
    proposals += acts.size();
    for (const auto& one : all_) {
      asked_ = SeededRandom(random_.below(1'000'000'000));
      one->round(acts);
    }
  }

  const std::vector<std::unique_ptr<Architecture>>& all() const { return all_; }
  std::uint64_t proposals = 0;

 private:
  EntityPtr beginning() {
    for (int attempt = 0; attempt < 20; ++attempt) {
      const auto init = parseJson(module_.sampleInit(random_, now_), kOwnJson);
      if (!init || !init->is_object()) continue;
      if (auto made = module_.create(init->get_object(), now_); made.ok()) return *std::move(made);
    }
    return module_.create({}, now_).value();
  }
  const std::string& roleOf(const Action& action) const { return module_.signature().processes[action.process].role; }
  ActionPtr proposalOf(const std::string& role) {
    for (int tries = 0; tries < 12; ++tries) {
      ActionPtr action = module_.sample(all_[kKernel]->state(), random_, now_);
      if (!action) return nullptr;
      if (roleOf(*action) == role) return action;
    }
    return nullptr;
  }
  json::object editFor(const EntityState& seen, const Action& action) {
    const auto& counselors = module_.signature().counselors;
    if (counselors.empty()) return {};
    const auto edit = parseJson(module_.sampleEdit(seen, action, counselors.front(), asked_, now_), kOwnJson);
    return edit && edit->is_object() ? edit->get_object() : json::object();
  }

  const DomainModule& module_;
  SeededRandom random_, asked_{0};
  std::vector<std::unique_ptr<Architecture>> all_;
  Time now_ = kSampleStart;
};

void finish(ComparisonRow& row, std::vector<double> times) {
  if (times.empty()) return;
  double sum = 0;
  for (const double ms : times) sum += ms;
  row.meanMicros = static_cast<std::uint64_t>(1000 * sum / static_cast<double>(times.size()));
  const auto at = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) * 99 / 100);
  std::nth_element(times.begin(), at, times.end());
  row.p99Micros = static_cast<std::uint64_t>(1000 * *at);
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value);
  return text;
}

std::string ms(std::uint64_t micros) { return number(static_cast<double>(micros) / 1000); }

}  // namespace

Result<Comparison> compareArchitectures(const DomainModule& module, const ComparisonOptions& options) {
  Comparison result;
  std::vector<std::vector<double>> times(kNames.size());
  for (const char* name : kNames) result.rows.push_back({name});
  for (std::size_t t = 0; t < options.traces; ++t) {
    Trace trace(module, options, options.seed + t);
    for (std::size_t round = 0; round < options.rounds; ++round) trace.round();
    result.proposals += trace.proposals;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      const Tally& tally = trace.all()[i]->tally();
      ComparisonRow& row = result.rows[i];
      row.committed += tally.committed;
      row.denied += tally.denied;
      row.wrongDenials += tally.wrongDenials;
      row.violations += tally.violations;
      row.tracesBroken += tally.violations > 0;
      row.compensations += tally.compensations;
      row.escalations += tally.escalations;
      times[i].insert(times[i].end(), tally.latencyMs.begin(), tally.latencyMs.end());
    }
  }
  if (result.proposals == 0)
    return invalid("the domain " + module.signature().domain + " offers no sample actions", "compare another one");
  for (std::size_t i = 0; i < kNames.size(); ++i) finish(result.rows[i], std::move(times[i]));
  return result;
}

std::string comparisonTable(const std::string& domain, const ComparisonOptions& options, const Comparison& comparison) {
  std::string out =
      concat(domain, ": ", comparison.proposals, " proposals in ", options.traces, " traces of ", options.rounds,
             " rounds, seed ", options.seed, "; judge wrong in ", number(options.errorRate * 100), " % and ",
             number(options.latencies.judgeMs), " ms an answer, ", number(options.latencies.hopMs), " ms a hop\n\n");
  const auto add = [&](const char* first, auto... columns) {
    std::string text(first);
    text.resize(16, ' ');
    for (const std::string& column : {std::string(columns)...})
      text += std::string(column.size() < 11 ? 11 - column.size() : 1, ' ') + column;
    out += text + "\n";
  };
  add("", "committed", "denied", "wrongly", "violations", "traces", "undone", "asked", "mean ms", "p99 ms");
  for (const ComparisonRow& row : comparison.rows)
    add(row.architecture.c_str(), std::to_string(row.committed), std::to_string(row.denied),
        std::to_string(row.wrongDenials), std::to_string(row.violations), std::to_string(row.tracesBroken),
        std::to_string(row.compensations), std::to_string(row.escalations), ms(row.meanMicros), ms(row.p99Micros));
  return out;
}

std::string comparisonSvg(const std::string& domain, const Comparison& comparison) {
  struct Panel {
    const char* title;
    double (*of)(const ComparisonRow&);
  };
  constexpr std::array<Panel, 4> kPanels{{
      {"violations", [](const ComparisonRow& r) { return static_cast<double>(r.violations); }},
      {"wrong denials", [](const ComparisonRow& r) { return static_cast<double>(r.wrongDenials); }},
      {"questions to people", [](const ComparisonRow& r) { return static_cast<double>(r.escalations); }},
      {"mean ms to an answer", [](const ComparisonRow& r) { return static_cast<double>(r.meanMicros) / 1000; }},
  }};
  constexpr int kWidth = 300, kBar = 20, kRow = 26, kTop = 60, kLabel = 110, kSpace = 130;
  const int height = kTop + kRow * static_cast<int>(comparison.rows.size()) + 20;
  std::string out = concat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", kLabel + 4 * kWidth, "\" height=\"",
                           height, "\" viewBox=\"0 0 ", kLabel + 4 * kWidth, " ", height,
                           "\">\n<style>text{font:12px sans-serif;fill:#222}.t{font-weight:bold}rect{fill:#4a6fa5}"
                           "</style>\n<text x=\"10\" y=\"20\" class=\"t\">",
                           domain, ", ", comparison.proposals, " proposals</text>\n");
  for (std::size_t i = 0; i < comparison.rows.size(); ++i)
    out += concat("<text x=\"10\" y=\"", kTop + kRow * static_cast<int>(i) + 15, "\">", comparison.rows[i].architecture,
                  "</text>\n");
  for (std::size_t p = 0; p < kPanels.size(); ++p) {
    const int left = kLabel + kWidth * static_cast<int>(p);
    double most = 0;
    for (const ComparisonRow& row : comparison.rows) most = std::max(most, kPanels[p].of(row));
    out += concat("<text x=\"", left, "\" y=\"", kTop - 12, "\" class=\"t\">", kPanels[p].title, "</text>\n");
    for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
      const double value = kPanels[p].of(comparison.rows[i]);
      const int y = kTop + kRow * static_cast<int>(i);
      const int width = most > 0 ? static_cast<int>(value / most * (kWidth - kSpace)) : 0;
      out += concat("<rect x=\"", left, "\" y=\"", y, "\" width=\"", width, "\" height=\"", kBar, "\"/>\n<text x=\"",
                    left + width + 6, "\" y=\"", y + 15, "\">",
                    value == static_cast<double>(static_cast<std::int64_t>(value))
                        ? std::to_string(static_cast<std::int64_t>(value))
                        : number(value),
                    "</text>\n");
    }
  }
  return out + "</svg>\n";
}

}  // namespace witan::compare
