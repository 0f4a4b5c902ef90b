#include "domains/disclosure/portfolio.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/seams.h"

namespace witan::domains::disclosure {

namespace {

constexpr std::size_t kMostEntities = 10'000, kMostDays = 10'000;

struct Line {
  Time at;
  json::object what;
};

Line entry(Time at, std::string_view id, std::string_view type, json::value payload) {
  return {at, {{"at", formatTime(at)}, {"id", id}, {"type", type}, {"payload", std::move(payload)}}};
}

class Lab {
 public:
  Lab(std::size_t count, std::size_t days, std::uint64_t seed) : days_(days), random_(seed) {
    lines_.push_back(entry(kSampleStart, "disclosure/portfolio/portfolio", "disclosure.portfolio",
                           json::object{{"portfolio", "portfolio"}}));
    for (std::size_t i = 0; i < count; ++i) find(i);
    lines_.push_back(entry(end(), "feed/end", "note", json::object{{"text", "the last day"}}));
  }

  std::string text() {
    std::stable_sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) { return a.at < b.at; });
    std::string out;
    for (const Line& line : lines_)
      if (line.at <= end()) out += canonicalJson(line.what) + "\n";
    return out;
  }

 private:
  Time end() const { return Time{kSampleStart.micros + static_cast<std::int64_t>(days_) * kMicrosPerDay}; }
  bool chance(std::uint64_t percent) { return random_.below(100) < percent; }
  // `least` to `most` days after `from`, at some minute of a working day.
  Time later(Time from, std::uint64_t least, std::uint64_t most) {
    const std::int64_t day =
        from.micros / kMicrosPerDay + static_cast<std::int64_t>(least + random_.below(most - least + 1));
    return Time{day * kMicrosPerDay + (480 + static_cast<std::int64_t>(random_.below(600))) * 60 * kMicrosPerSecond};
  }

  // What becomes known of one vulnerability, member by member.
  void find(std::size_t i) {
    const std::string v = "V-" + std::to_string(10'000 + i), org = "org-" + std::to_string(i % 7) + ".example";
    Hash nonce;
    random_.fill(nonce);
    const Time found = later(kSampleStart, 0, std::max<std::size_t>(days_ / 2, 1));
    known_.clear();
    learn(found, {{"portfolio", "portfolio"},
                  {"v", v},
                  {"orgs", json::array{org}},
                  {"maintainer", "team-" + std::to_string(random_.below(3)) + "@" + org},
                  {"artifact", "report on " + v},
                  {"nonce", toHex(nonce)},
                  {"credits", json::array{"Example Lab"}}});
    learn(later(found, 1, 6), {{"acknowledged", true}});
    learn(later(found, 2, 9), {{"severity", "HIGH"}});
    if (chance(85)) {
      const Time developed = later(found, 8, 20), reviewed = later(developed, 3, 15), fixed = later(reviewed, 2, 55);
      learn(developed, {{"patch", "IN_DEVELOPMENT"}});
      learn(reviewed, {{"patch", "UNDER_REVIEW"}, {"fixExpected", formatTime(fixed)}});
      learn(fixed, {{"patch", "RELEASED"},
                    {"fix", "https://git." + org + "/c/" + v},
                    {"fixedAt", formatTime(fixed)},
                    {"fixExpected", nullptr}});
    }
    if (chance(80)) learn(later(found, 10, 45), {{"cve", "CVE-2026-" + std::to_string(20'000 + i)}});
    if (chance(4)) learn(later(found, 15, 60), {{"publiclyKnown", true}});
    if (chance(4)) exploit(v, later(found, 15, 60));
    enter("disclosure/portfolio/" + v + "/case");
  }

  // The lab asks to disclose before the embargo ends, and a day later its lead says yes.
  void exploit(const std::string& v, Time at) {
    learn(at, {{"exploited", true}});
    json::array waivers;
    for (const char* rule : {"EMBARGO_ENFORCEMENT", "PATCH_BEFORE_DISCLOSURE"}) waivers.push_back(json::array{rule, v});
    const Time answered{at.micros + kMicrosPerDay};
    lines_.push_back({answered,
                      {{"at", formatTime(answered)},
                       {"counselor", "psirt.lead"},
                       {"decision", "commit"},
                       {"domain", "disclosure"},
                       {"edit", json::object{{"waivers", json::object{{"add", std::move(waivers)}}}}},
                       {"entity", "portfolio"},
                       {"reason", v + " is being exploited"}}});
  }

  void learn(Time at, json::object news) { known_.emplace_back(at, std::move(news)); }

  // The entry as it is edited, each time with all that is known by then.
  void enter(const std::string& id) {
    std::stable_sort(known_.begin(), known_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    json::object so;
    for (const auto& [at, news] : known_) {
      for (const auto& [member, value] : news) so[member] = value;
      lines_.push_back(entry(at, id, "disclosure.case", so));
    }
  }

  const std::size_t days_;
  SeededRandom random_;
  std::vector<std::pair<Time, json::object>> known_;
  std::vector<Line> lines_;
};

}  // namespace

Result<std::string> portfolioFeed(std::size_t vulnerabilities, std::size_t days, std::uint64_t seed) {
  if (vulnerabilities > kMostEntities || days > kMostDays)
    return invalid("a feed has at most " + std::to_string(kMostEntities) + " vulnerabilities and " +
                   std::to_string(kMostDays) + " days");
  return Lab(vulnerabilities, days, seed).text();
}

}  // namespace witan::domains::disclosure
