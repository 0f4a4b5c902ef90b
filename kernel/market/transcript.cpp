#include <array>
#include <set>

#include "kernel/market/evidence.h"
#include "kernel/market/record.h"

namespace witan::market {

namespace {

// Which of the members that not every record has.
enum : unsigned {
  kInput = 1,
  kSpan = 2,
  kTool = 4,
  kModel = 8,
  kOutput = 16,
  kTokens = 32,
  kLocales = 64,
  kResult = 128
};

constexpr std::array<unsigned, 6> kMembersOf = {
    kInput,                                                  // begin
    kSpan | kTool | kInput | kOutput | kLocales,             // look
    kSpan | kModel | kInput | kOutput | kTokens | kLocales,  // model
    kSpan | kTool | kInput | kLocales,                       // act
    kSpan | kResult | kOutput,                               // outcome
    kOutput,                                                 // end
};

unsigned membersOf(const Record& r) {
  return (r.input ? kInput : 0u) | (r.span ? kSpan : 0u) | (r.tool ? kTool : 0u) | (r.model ? kModel : 0u) |
         (r.output ? kOutput : 0u) | (r.tokens ? kTokens : 0u) | (r.locales ? kLocales : 0u) |
         (r.result ? kResult : 0u);
}

// What the records say in all, against what the statement says.
class Tally {
 public:
  // Nothing, or what is wrong with the next record.
  std::optional<std::string> add(const Record& r) {
    const bool step = r.kind == RecordKind::look || r.kind == RecordKind::model || r.kind == RecordKind::act;
    if (step && !spans_.insert(*r.span).second) return "a span stands twice";
    if (r.kind == RecordKind::act) open_.insert(*r.span);
    if (r.kind == RecordKind::outcome && open_.erase(*r.span) == 0) return "an outcome is of no act";
    if (r.kind == RecordKind::model) {
      models_.insert(*r.model);
      // Beyond what any statement can say: the sum is wrong already.
      if (__builtin_add_overflow(used_, *r.tokens, &used_)) return "tokens do not add up";
    }
    steps_ += step ? 1 : 0;
    return std::nullopt;
  }

  std::optional<std::string> end(const Predicate& p) const {
    if (!open_.empty()) return "an act has no outcome";
    if (models_ != std::set<Model>(p.models.begin(), p.models.end())) return "the models are not those that ran";
    if (used_ != p.usage.tokens) return "tokens do not add up";
    if (steps_ != p.usage.steps) return "steps do not add up";
    return std::nullopt;
  }

 private:
  std::set<std::string> spans_, open_;
  std::set<Model> models_;
  Natural used_ = 0, steps_ = 0;
};

std::optional<std::string> placeProblem(const Record& r, std::size_t at, std::size_t size, const Predicate& p) {
  if (membersOf(r) != kMembersOf[static_cast<std::size_t>(r.kind)])
    return "has not the members of its kind, " + std::string(enumName(r.kind));
  if (r.n != at) return "has another number";
  if (r.policyEpoch != p.policyEpoch) return "is of another policy epoch";
  if ((r.kind == RecordKind::begin) != (at == 0) || (r.kind == RecordKind::end) != (at + 1 == size))
    return "begins or ends elsewhere than the transcript";
  if (r.locales && !isWithin(*r.locales, p.locales)) return "is in a locale that the evidence does not name";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> transcriptProblem(const json::array& records, const Predicate& p, const Hex& output) {
  const TranscriptHead head = transcriptHead(records);
  if (records.empty() || head.size != p.transcript.size || head.root != p.transcript.root)
    return "the records are not those that the evidence commits to";
  Tally tally;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto at = [&](const std::string& what) { return concat("record ", i, " ", what); };
    Record r;
    if (const Status read = readJson(records[i], r, "record"); !read.ok()) return at(read.error().message);
    if (const auto problem = placeProblem(r, i, records.size(), p)) return at(*problem);
    if (i == 0 && *r.input != p.input) return at("begins with another input");
    if (i + 1 == records.size() && *r.output != output) return at("ends with another output");
    if (auto problem = tally.add(r)) return at("shows that " + *problem);
  }
  return tally.end(p);
}

}  // namespace witan::market
