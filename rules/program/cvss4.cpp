// CVSS 4.0 (first.org, Specification Document, section 8): a score is that of the vector's class, less the mean way to
// the next lower classes. All in integers: the classes' scores are tenths, the ways are fractions of a common
// denominator.
#include <algorithm>
#include <array>
#include <cstdint>

#include "rules/program/cvss.h"

namespace witan::rules::cvss4 {
namespace {

struct Metric {
  std::string_view name, values;
};

// In the order that a vector must keep. The values of U are words, known by their first letter.
constexpr std::array<Metric, 32> kMetrics{
    {{"AV", "NALP"},   {"AC", "LH"},     {"AT", "NP"},    {"PR", "NLH"},    {"UI", "NPA"},   {"VC", "HLN"},
     {"VI", "HLN"},    {"VA", "HLN"},    {"SC", "HLN"},   {"SI", "HLN"},    {"SA", "HLN"},   {"E", "XAPU"},
     {"CR", "XHML"},   {"IR", "XHML"},   {"AR", "XHML"},  {"MAV", "XNALP"}, {"MAC", "XLH"},  {"MAT", "XNP"},
     {"MPR", "XNLH"},  {"MUI", "XNPA"},  {"MVC", "XHLN"}, {"MVI", "XHLN"},  {"MVA", "XHLN"}, {"MSC", "XHLN"},
     {"MSI", "XSHLN"}, {"MSA", "XSHLN"}, {"S", "XNP"},    {"AU", "XNY"},    {"R", "XAUI"},   {"V", "XDC"},
     {"RE", "XLMH"},   {"U", "XCGAR"}}};
enum : std::size_t { AV, AC, AT, PR, UI, VC, VI, VA, SC, SI, SA, E, CR, IR, AR, firstModified };
constexpr std::size_t kBase = E;
constexpr std::size_t kScored = firstModified;

using Values = std::array<char, kMetrics.size()>;

std::optional<Values> parse(std::string_view vector) {
  constexpr std::string_view kHead = "CVSS:4.0";
  if (!vector.starts_with(kHead)) return std::nullopt;
  Values values;
  values.fill('X');
  std::size_t next = 0;
  for (vector.remove_prefix(kHead.size()); !vector.empty();) {
    if (vector[0] != '/') return std::nullopt;
    vector.remove_prefix(1);
    const std::string_view one = vector.substr(0, vector.find('/'));
    vector.remove_prefix(one.size());
    const std::size_t colon = one.find(':');
    if (colon == std::string_view::npos || colon + 1 == one.size()) return std::nullopt;
    const std::string_view value = one.substr(colon + 1);
    while (next < kMetrics.size() && kMetrics[next].name != one.substr(0, colon))
      if (next++ < kBase) return std::nullopt;
    if (next == kMetrics.size() || kMetrics[next].values.find(value[0]) == std::string_view::npos) return std::nullopt;
    const bool word = value == "Clear" || value == "Green" || value == "Amber" || value == "Red";
    if (kMetrics[next].name == "U" && value != "X" ? !word : value.size() != 1) return std::nullopt;
    values[next++] = value[0];
  }
  if (next < kBase) return std::nullopt;
  return values;
}

// What counts: a modified metric for that of the base, the worst for what is not defined.
Values effective(Values v) {
  for (std::size_t i = AV; i <= SA; ++i)
    if (v[firstModified + i] != 'X') v[i] = v[firstModified + i];
  if (v[E] == 'X') v[E] = 'A';
  for (const std::size_t i : {CR, IR, AR})
    if (v[i] == 'X') v[i] = 'H';
  return v;
}

// How far a value lies from the worst.
int level(std::size_t metric, char value) {
  constexpr std::array<std::string_view, kScored> kWorstFirst{"NALP", "LH",   "NP",   "NLH", "NPA", "HLN", "HLN", "HLN",
                                                              "SHLN", "SHLN", "SHLN", "APU", "HML", "HML", "HML"};
  return static_cast<int>(kWorstFirst[metric].find(value));
}

using Class = std::array<int, 6>;  // EQ1 to EQ6

Class classOf(const Values& v) {
  const bool none = v[AV] == 'N' && v[PR] == 'N' && v[UI] == 'N';
  const bool any = v[AV] == 'N' || v[PR] == 'N' || v[UI] == 'N';
  const bool safety = v[SI] == 'S' || v[SA] == 'S';
  const bool demanded =
      (v[CR] == 'H' && v[VC] == 'H') || (v[IR] == 'H' && v[VI] == 'H') || (v[AR] == 'H' && v[VA] == 'H');
  return {none                  ? 0
          : any && v[AV] != 'P' ? 1
                                : 2,
          v[AC] == 'L' && v[AT] == 'N' ? 0 : 1,
          v[VC] == 'H' && v[VI] == 'H'                   ? 0
          : v[VC] == 'H' || v[VI] == 'H' || v[VA] == 'H' ? 1
                                                         : 2,
          safety                                         ? 0
          : v[SC] == 'H' || v[SI] == 'H' || v[SA] == 'H' ? 1
                                                         : 2,
          level(E, v[E]),
          demanded ? 0 : 1};
}

constexpr std::uint8_t kNo = 255;  // there is no such class
// The scores of the classes in tenths: rows of EQ1 and EQ2; in a row EQ3, EQ4, EQ5, EQ6 count up, EQ6 fastest.
constexpr std::uint8_t kScores[6][54] = {
    {100, 99, 98,  95, 95,  92, 100, 96, 93,  87, 91,  81, 93,  90, 89,  80, 81,  68,
     98,  95, 95,  92, 90,  84, 93,  92, 89,  81, 81,  65, 88,  80, 78,  70, 69,  48,
     kNo, 92, kNo, 82, kNo, 72, kNo, 79, kNo, 69, kNo, 50, kNo, 69, kNo, 55, kNo, 27},
    {99,  97, 95,  92, 92,  85, 95,  91, 90,  83, 84,  71, 92,  81, 82,  71, 72,  53,
     95,  93, 92,  85, 85,  73, 92,  82, 80,  72, 70,  59, 84,  70, 71,  52, 50,  30,
     kNo, 86, kNo, 75, kNo, 52, kNo, 71, kNo, 52, kNo, 29, kNo, 63, kNo, 29, kNo, 17},
    {98,  95, 94,  87, 91,  81, 94,  89, 86,  74, 77,  64, 87,  75, 74,  63, 63,  49,
     94,  89, 88,  77, 76,  67, 86,  76, 74,  58, 59,  50, 72,  57, 57,  52, 52,  25,
     kNo, 83, kNo, 70, kNo, 54, kNo, 65, kNo, 58, kNo, 26, kNo, 53, kNo, 21, kNo, 13},
    {95,  90, 88,  76, 76,  70, 90,  77, 75,  62, 61,  53, 77,  66, 68,  59, 52,  30,
     89,  78, 76,  67, 62,  58, 74,  59, 57,  57, 47,  23, 61,  52, 57,  29, 24,  16,
     kNo, 71, kNo, 59, kNo, 30, kNo, 58, kNo, 26, kNo, 15, kNo, 23, kNo, 13, kNo, 6},
    {93,  87, 86,  72, 75,  58, 86,  74, 74,  61, 56,  34, 70,  54, 52,  40, 40,  22,
     85,  75, 74,  55, 62,  51, 72,  57, 55,  41, 46,  19, 53,  36, 34,  19, 19,  8,
     kNo, 64, kNo, 51, kNo, 20, kNo, 47, kNo, 21, kNo, 11, kNo, 24, kNo, 9,  kNo, 4},
    {88,  75, 73,  53, 60,  50, 73,  55, 59,  40, 41,  20, 54,  43, 45,  22, 20,  11,
     75,  55, 58,  45, 40,  21, 61,  51, 48,  18, 20,  9,  46,  18, 17,  7,  8,   2,
     kNo, 53, kNo, 24, kNo, 14, kNo, 24, kNo, 12, kNo, 5,  kNo, 10, kNo, 3,  kNo, 1}};

// Nothing: there is no such class.
std::optional<int> scoreOf(const Class& c) {
  if (c[0] > 2 || c[1] > 1 || c[2] > 2 || c[3] > 2 || c[4] > 2 || c[5] > 1) return std::nullopt;
  const std::uint8_t score = kScores[2 * c[0] + c[1]][((c[2] * 3 + c[3]) * 3 + c[4]) * 2 + c[5]];
  return score == kNo ? std::nullopt : std::optional<int>(score);
}

std::optional<int> lower(Class c, std::size_t eq) {
  ++c[eq];
  return scoreOf(c);
}

// EQ3 and EQ6 depend on each other.
std::optional<int> lowerImpact(const Class& c) {
  if (c[2] == 0 && c[5] == 0) return std::max(lower(c, 5), lower(c, 2));
  return lower(c, c[5] == 0 ? 5 : 2);
}

// How far the vector lies below the highest of its class: the first of these, metric by metric, that is no less.
int distance(const Values& v, std::initializer_list<std::size_t> metrics, std::string_view highest) {
  for (; !highest.empty(); highest.remove_prefix(std::min(highest.size(), metrics.size() + 1))) {
    int sum = 0;
    bool below = true;
    std::size_t i = 0;
    for (const std::size_t metric : metrics) {
      const int d = level(metric, v[metric]) - level(metric, highest[i++]);
      below = below && d >= 0;
      sum += d;
    }
    if (below) return sum;
  }
  return 0;
}

struct Way {
  std::optional<int> lower;
  int distance = 0, depth = 1;  // of the class
};

std::array<Way, 5> waysDown(const Values& v, const Class& c) {
  constexpr std::string_view kHighest1[] = {"NNN", "ANN NLN NNP", "PNN ALP"};
  constexpr std::string_view kHighest2[] = {"LN", "HN LP"};
  constexpr std::string_view kHighest36[3][2] = {
      {"HHHHHH", "HHLMMH HHHMMM"}, {"LHHHHH HLHHHH", "LHLHMH LHHHMM HLHMHM HLLMHH LLHHHM"}, {"", "LLLHHH"}};
  constexpr std::string_view kHighest4[] = {"HSS", "HHH", "LLL"};
  constexpr int kDepth1[] = {1, 4, 5}, kDepth2[] = {1, 2}, kDepth36[3][2] = {{7, 6}, {8, 8}, {1, 10}},
                kDepth4[] = {6, 5, 4};
  return {{{lower(c, 0), distance(v, {AV, PR, UI}, kHighest1[c[0]]), kDepth1[c[0]]},
           {lower(c, 1), distance(v, {AC, AT}, kHighest2[c[1]]), kDepth2[c[1]]},
           {lowerImpact(c), distance(v, {VC, VI, VA, CR, IR, AR}, kHighest36[c[2]][c[5]]), kDepth36[c[2]][c[5]]},
           {lower(c, 3), distance(v, {SC, SI, SA}, kHighest4[c[3]]), kDepth4[c[3]]},
           {lower(c, 4), 0, 1}}};
}

std::optional<int> tenths(std::string_view vector) {
  const auto given = parse(vector);
  if (!given) return std::nullopt;
  const Values v = effective(*given);
  if (std::all_of(v.begin() + VC, v.begin() + E, [](char value) { return value == 'N'; })) return 0;
  const Class c = classOf(v);
  const int score = scoreOf(c).value();
  constexpr int kCommon = 840;  // a multiple of every depth
  int sum = 0, ways = 0;
  for (const Way& way : waysDown(v, c)) {
    if (!way.lower) continue;
    ++ways;
    sum += (score - *way.lower) * way.distance * (kCommon / way.depth);
  }
  if (ways == 0) return score;
  const int whole = kCommon * ways;
  return std::clamp((2 * (score * whole - sum) + whole) / (2 * whole), 0, 100);  // half up
}

}  // namespace
}  // namespace witan::rules::cvss4

namespace witan::rules {

std::optional<int> cvss4Tenths(std::string_view vector) { return cvss4::tenths(vector); }

}  // namespace witan::rules
