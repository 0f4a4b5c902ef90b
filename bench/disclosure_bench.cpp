// Disclosure in memory on one core: one portfolio of many vulnerabilities, ten log facts each (five phases, three
// commitments, two openings), then proposals of every kind on random ones.
//
//   witan_disclosure_bench [--vulnerabilities N] [--decisions N] [--rounds N] [--unlawful N]
//
// Every round starts from a portfolio of the same size; every --unlawful'th proposal is rejected (0: none). Proposals
// are made ahead as bytes; times are processor time of the deciding thread.
#include "base/bytes.h"
#include "bench/workload.h"
#include "domains/disclosure/commitment.h"
#include "domains/registry.h"

namespace {

using namespace witan;
using namespace witan::bench;
using domains::disclosure::CommitmentHash;

constexpr std::int64_t kMinute = 60'000'000;
constexpr const char* kEntity = "portfolio";

class Portfolio {
 public:
  Portfolio(const kernel::DomainModule& module, std::size_t vulnerabilities, std::uint64_t seed)
      : make_(module, seed), size_(vulnerabilities), orgs_(vulnerabilities / 33 + 1) {}

  void past(Messages& out, std::size_t i) {
    const std::string v = name(i);
    propose(out, "ReporterCoordination", {{"type", "Intake"}, {"v", v}, {"orgs", json::array{org(i)}}});
    for (int n = 0; n < 3; ++n) publish(out, i);
    report(out, i);
    propose(out, "ReporterCoordination", {{"type", "RecordAcknowledgment"}, {"r", lastReport_}, {"baseDays", 0}});
    propose(out, "PatchTracking",
            {{"type", "ObserveExternalFact"}, {"v", v}, {"what", "cve"}, {"value", concat("CVE-2026-", 10000 + i)}});
    for (int n = 0; n < 2; ++n) resolve(out, openings_.size() - 1 - static_cast<std::size_t>(n));
    openings_.pop_back();
    openings_.pop_back();
  }

  void next(Messages& out, bool unlawful) {
    const std::size_t i = make_.random.below(size_);
    if (unlawful) return wrong(out, i);
    const std::string v = name(i);
    switch (step_++ % 10) {
      case 0: return propose(out, "PatchTracking", {{"type", "ReviseSeverity"}, {"v", v}, {"sev", "HIGH"}});
      case 1: return publish(out, i);
      case 2: return resolve(out, openings_.size() - 1);
      case 3: return report(out, i);
      case 4: return propose(out, "PatchTracking", {{"type", "DevelopPatch"}, {"v", v}, {"mentions", json::array{v}}});
      case 5: return propose(out, "PatchTracking", {{"type", "ReviewPatch"}, {"v", v}});
      case 6: return propose(out, "Disclosure", {{"type", "AssertReadiness"}, {"v", v}});
      case 7:
        return propose(out, "Disclosure",
                       {{"type", "FormCoDisclosureGroup"},
                        {"g", concat("G", i)},
                        {"members", json::array{v}},
                        {"planned", "2026-01-01T00:00:00Z"}});
      case 8: return propose(out, "PatchTracking", {{"type", "ObserveExternalFact"}, {"v", v}, {"what", "exploited"}});
      default: return propose(out, "ReporterCoordination", {{"type", "ExtendEmbargo"}, {"v", v}, {"days", 0}});
    }
  }

 private:
  struct Opening {
    std::string hash, nonce, digest;
  };
  static std::string name(std::size_t i) { return concat("V-", 100000 + i); }
  std::string org(std::size_t i) const { return concat("org-", i % orgs_, ".example"); }

  void propose(Messages& out, std::string_view role, json::object action) {
    at_.micros += kMinute;
    const std::string type(action.at("type").get_string());
    make_.add(out, kEntity, role, type, json::serialize(action), at_);
  }
  void publish(Messages& out, std::size_t i) {
    const std::string artifact = concat("report ", ++artifacts_);
    const Hash nonce = sha256("nonce " + artifact), digest = sha256(artifact);
    openings_.push_back({toHex(commitmentOf(CommitmentHash::sha3_256, nonce, digest)), toHex(nonce), toHex(digest)});
    propose(out, "CommitmentManagement",
            {{"type", "PublishCommitment"},
             {"hash", openings_.back().hash},
             {"alg", "SHA3-256"},
             {"artifact", artifact},
             {"v", name(i)}});
  }
  void resolve(Messages& out, std::size_t n) {
    const Opening& o = openings_[n];
    propose(out, "CommitmentManagement",
            {{"type", "ResolveCommitment"}, {"hash", o.hash}, {"nonce", o.nonce}, {"digest", o.digest}});
    if (n + 1 == openings_.size() && artifacts_ > 3 * size_) openings_.pop_back();
  }
  // Maintainers take turns, so that nobody gets more than three a week.
  void report(Messages& out, std::size_t i) {
    lastReport_ = concat("R", ++reports_);
    propose(out, "ReporterCoordination",
            {{"type", "SubmitReport"},
             {"r", lastReport_},
             {"v", name(i)},
             {"org", org(i)},
             {"maint", concat("team-", reports_ % 4001)}});
  }
  // A repeated hash, a report to a stranger, a group of the unknown, a disclosure without its CVE id.
  void wrong(Messages& out, std::size_t i) {
    switch (wrongs_++ % 4) {
      case 0:
        return propose(out, "CommitmentManagement",
                       {{"type", "PublishCommitment"},
                        {"hash", openings_.front().hash},
                        {"alg", "SHA3-256"},
                        {"artifact", "again"},
                        {"v", name(i)}});
      case 1:
        return propose(out, "ReporterCoordination",
                       {{"type", "SubmitReport"}, {"r", "RX"}, {"v", name(i)}, {"org", "elsewhere"}, {"maint", "x"}});
      case 2:
        return propose(out, "Disclosure",
                       {{"type", "FormCoDisclosureGroup"},
                        {"g", "GX"},
                        {"members", json::array{"nobody's"}},
                        {"planned", "2026-01-01T00:00:00Z"}});
      default:
        return propose(out, "Disclosure", {{"type", "ExecuteDisclosure"}, {"v", name(i)}, {"noPatchReason", "none"}});
    }
  }

  ActionMaker make_;
  std::size_t size_;
  std::size_t orgs_;
  std::vector<Opening> openings_;
  std::string lastReport_;
  std::uint64_t artifacts_ = 0, reports_ = 0, step_ = 0, wrongs_ = 0;
  Time at_{1'767'225'600'000'000};  // 2026-01-01
};

Round decideRound(const kernel::DomainModule& module, std::size_t size, std::size_t decisions, std::size_t unlawful,
                  std::uint64_t seed) {
  kernel::Partition partition(module);
  const auto made = partition.init(kEntity, {}, Time{1'767'225'600'000'000});
  if (made.outcome != kernel::Outcome::initialised) fail(made.message);
  Portfolio portfolio(module, size, seed);
  Messages messages;
  std::uint64_t logBytes = 0;
  for (std::size_t i = 0; i < size; ++i) {
    portfolio.past(messages, i);
    if (messages.size() < 10'000 && i + 1 < size) continue;
    if (decideAll(partition, messages, 0, messages.size(), 256, logBytes) != messages.size())
      fail("a past was rejected");
    messages.clear();
  }
  for (std::size_t i = 0; i < decisions; ++i) portfolio.next(messages, unlawful != 0 && i % unlawful == unlawful - 1);
  Round round{.decisions = decisions};
  const ThreadStopwatch watch;
  round.approved = decideAll(partition, messages, 0, decisions, 256, round.logBytes);
  round.seconds = watch.seconds();
  return round;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const Arguments args(argc, argv, {"--vulnerabilities", "--decisions", "--rounds", "--unlawful"});
  const auto module = must(domains::makeDomain("disclosure"), "domain");
  const std::size_t size = args.number("--vulnerabilities", 10'000);
  const std::size_t decisions = args.number("--decisions", 20'000), unlawful = args.number("--unlawful", 32);
  const double rate = medianRate(args.number("--rounds", 5), [&](std::size_t number) {
    return decideRound(*module, size, decisions, unlawful, number);
  });
  std::printf("%zu vulnerabilities, %zu log facts: median %.0f decisions/s (%.0f ns each)\n", size, 10 * size, rate,
              1e9 / rate);
  return 0;
}
