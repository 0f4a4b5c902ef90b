#include "rules/program/cvss.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace witan::rules {

namespace {

struct Metric {
  std::string_view name, values;
};

// The modified metrics stand for those of the base; X: as the base has it.
constexpr std::array<Metric, 22> kMetrics{
    {{"AV", "NALP"}, {"AC", "LH"},   {"PR", "NLH"},    {"UI", "NR"},    {"S", "UC"},     {"C", "HLN"},
     {"I", "HLN"},   {"A", "HLN"},   {"E", "XUPFH"},   {"RL", "XOTWU"}, {"RC", "XURC"},  {"CR", "XLMH"},
     {"IR", "XLMH"}, {"AR", "XLMH"}, {"MAV", "XNALP"}, {"MAC", "XLH"},  {"MPR", "XNLH"}, {"MUI", "XNR"},
     {"MS", "XUC"},  {"MC", "XHLN"}, {"MI", "XHLN"},   {"MA", "XHLN"}}};
enum : std::size_t { AV, AC, PR, UI, S, C, I, A, E, RL, RC, CR, IR, AR, firstModified };
constexpr std::size_t kBase = E, kEnvironmental = CR;

using Values = std::array<char, kMetrics.size()>;

// Values by metric, X where it is not given.
std::optional<Values> parse(std::string_view vector) {
  if (!vector.starts_with("CVSS:3.1/") && !vector.starts_with("CVSS:3.0/")) return std::nullopt;
  Values values;
  values.fill('\0');
  for (vector.remove_prefix(8); !vector.empty();) {
    vector.remove_prefix(1);  // the slash
    const std::string_view one = vector.substr(0, vector.find('/'));
    vector.remove_prefix(one.size());
    const std::size_t colon = one.find(':');
    if (colon == std::string_view::npos || one.size() != colon + 2) return std::nullopt;
    const auto known = std::find_if(kMetrics.begin(), kMetrics.end(),
                                    [&](const Metric& metric) { return metric.name == one.substr(0, colon); });
    if (known == kMetrics.end() || known->values.find(one.back()) == std::string_view::npos) return std::nullopt;
    char& value = values[static_cast<std::size_t>(known - kMetrics.begin())];
    if (value != '\0') return std::nullopt;
    value = one.back();
  }
  if (std::find(values.begin(), values.begin() + kBase, '\0') != values.begin() + kBase) return std::nullopt;
  std::replace(values.begin(), values.end(), '\0', 'X');
  return values;
}

struct Weight {
  char value;
  double weight;
};

double weightOf(std::initializer_list<Weight> weights, char value) {
  for (const Weight& one : weights)
    if (one.value == value) return one.weight;
  return 1;  // not defined
}

double impactOf(char value) { return weightOf({{'H', 0.56}, {'L', 0.22}, {'N', 0}}, value); }
double requirementOf(char value) { return weightOf({{'H', 1.5}, {'L', 0.5}}, value); }

double power(double x, int n) {
  double product = 1;
  for (int i = 0; i < n; ++i) product *= x;
  return product;
}

// The smallest number of one decimal that is no less, in tenths; binary fractions count up to a hundred-thousandth.
int roundedUp(double score) {
  const auto fine = static_cast<std::int64_t>(std::llround(score * 100'000));
  return static_cast<int>(fine % 10'000 == 0 ? fine / 10'000 : fine / 10'000 + 1);
}

// Of a base, or of a modified one.
double exploitability(const Values& v, bool changed) {
  const double privileges = changed ? weightOf({{'N', 0.85}, {'L', 0.68}, {'H', 0.5}}, v[PR])
                                    : weightOf({{'N', 0.85}, {'L', 0.62}, {'H', 0.27}}, v[PR]);
  return 8.22 * weightOf({{'N', 0.85}, {'A', 0.62}, {'L', 0.55}, {'P', 0.2}}, v[AV]) *
         weightOf({{'L', 0.77}, {'H', 0.44}}, v[AC]) * privileges * weightOf({{'N', 0.85}, {'R', 0.62}}, v[UI]);
}

int baseTenths(double impact, double exploitable, bool changed) {
  if (impact <= 0) return 0;
  return roundedUp(std::min((changed ? 1.08 : 1.0) * (impact + exploitable), 10.0));
}

double temporal(const Values& v) {
  return weightOf({{'U', 0.91}, {'P', 0.94}, {'F', 0.97}}, v[E]) *
         weightOf({{'O', 0.95}, {'T', 0.96}, {'W', 0.97}}, v[RL]) * weightOf({{'U', 0.92}, {'R', 0.96}}, v[RC]);
}

int baseScore(const Values& v) {
  const double iss = 1 - (1 - impactOf(v[C])) * (1 - impactOf(v[I])) * (1 - impactOf(v[A]));
  const bool changed = v[S] == 'C';
  const double impact = changed ? 7.52 * (iss - 0.029) - 3.25 * power(iss - 0.02, 15) : 6.42 * iss;
  return baseTenths(impact, exploitability(v, changed), changed);
}

int environmentalScore(Values v, bool v31) {
  for (std::size_t i = firstModified; i < v.size(); ++i)
    if (v[i] != 'X') v[i - firstModified] = v[i];
  const double miss =
      std::min(1 - (1 - impactOf(v[C]) * requirementOf(v[CR])) * (1 - impactOf(v[I]) * requirementOf(v[IR])) *
                       (1 - impactOf(v[A]) * requirementOf(v[AR])),
               0.915);
  const bool changed = v[S] == 'C';
  const double tail = v31 ? power(miss * 0.9731 - 0.02, 13) : power(miss - 0.02, 15);
  const double impact = changed ? 7.52 * (miss - 0.029) - 3.25 * tail : 6.42 * miss;
  return roundedUp(baseTenths(impact, exploitability(v, changed), changed) / 10.0 * temporal(v));
}

}  // namespace

std::optional<int> cvssTenths(std::string_view vector) {
  if (vector.starts_with("CVSS:4.0")) return cvss4Tenths(vector);
  const auto values = parse(vector);
  if (!values) return std::nullopt;
  if (std::any_of(values->begin() + kEnvironmental, values->end(), [](char value) { return value != 'X'; }))
    return environmentalScore(*values, vector.starts_with("CVSS:3.1"));
  return roundedUp(baseScore(*values) / 10.0 * temporal(*values));
}

bool isSeverityWord(std::string_view word) {
  constexpr std::array<std::string_view, 5> kWords{"NONE", "LOW", "MEDIUM", "HIGH", "CRITICAL"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

}  // namespace witan::rules
