#include <map>

#include "base/json_codec.h"
#include "base/quote.h"
#include "domains/udt/udt.h"
#include "kernel/partition.h"

namespace witan::domains::udt {

namespace {

constexpr std::int32_t kFirstDay = 20'535;  // 2026-03-23, the day on which David's story begins
constexpr std::int64_t kMinute = 60 * kMicrosPerSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::string_view kCounselor = "dr.supervising";

Time at(std::int32_t day, std::int64_t hour, std::int64_t minute = 0) {
  return Time{(static_cast<std::int64_t>(kFirstDay) + day) * kMicrosPerDay + hour * kHour + minute * kMinute};
}

// What a person of the clinic is about to do. Acts of one patient wait for one another.
struct Act {
  enum class Kind { rationale, order, result, claim, answer };
  Kind kind = Kind::rationale;
  std::string patient;
  std::string order;
  bool definitive = false;
  std::string confirms;
  std::string coverage = "AHCCCS";
  Date on;  // of service or of the result
  bool positive = false;
  bool commit = true;  // of an answer
  std::string text;    // rationale, or reason of an answer
  std::string word = "INDIVIDUAL";
  std::string code;
  std::string method;
};

struct Patient {
  int orders = 0;
  std::int64_t abstinentDays = 0;     // at the start
  std::map<std::string, Act> placed;  // orders that were approved
};

// Until when the doctor will have answered, and how many acts were put off till then.
struct Wait {
  Time until;
  std::int64_t queued = 0;
};

class Clinic {
 public:
  Clinic(const DomainModule& module, std::size_t patients, std::size_t days, std::uint64_t seed)
      : module_(module),
        partition_(module),
        random_(seed),
        patientCount_(patients),
        days_(static_cast<std::int32_t>(days)) {}

  std::string run() {
    if (patientCount_ > 0) scheduleDavid();
    for (std::size_t i = 1; i < patientCount_; ++i) admit(i);
    while (!agenda_.empty()) {
      const auto first = agenda_.begin();
      const Time when{first->first.first};
      const Act act = std::move(first->second);
      agenda_.erase(first);
      perform(when, act);
    }
    return std::move(lines_);
  }

 private:
  // ---- the calendar ----
  void plan(Time when, Act act) { agenda_.emplace(std::pair(when.micros, ++planned_), std::move(act)); }
  bool percent(std::uint64_t p) { return random_.below(100) < p; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
  }

  void admit(std::size_t number) {
    std::string digits = std::to_string(number);
    const std::string name = "patient-" + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
    Patient& patient = patients_[name];
    const std::uint64_t draw = random_.below(3);
    patient.abstinentDays = draw == 0 ? between(0, 30) : draw == 1 ? between(31, 90) : between(91, 400);
    open(name, patient.abstinentDays);
    // Seen twice a week, weekly, or every two to three weeks: the longer abstinent, the rarer.
    const std::int64_t every = draw == 0 ? 4 : draw == 1 ? 8 : 18;
    for (std::int64_t day = between(0, every - 1); day < days_; day += between(every - 2, every + 2))
      visit(name, static_cast<std::int32_t>(day));
  }

  // Opens the record at 08:00 of the first day; lines of that moment come first in the file.
  void open(const std::string& name, std::int64_t abstinentDays) {
    const Date baseline{static_cast<std::int32_t>(kFirstDay - abstinentDays)};
    const Time when = at(0, 8);
    const std::string init = "{\"baselinePositiveOn\":\"" + formatDate(baseline) + "\"}";
    write(when, name, ",\"init\":" + init + (name == "David" ? R"(,"title":"David")" : ""));
    const Decision made = partition_.init(name, parseJson(init).value().as_object(), when);
    WITAN_CHECK(made.outcome == kernel::Outcome::initialised, "a patient can be admitted: " + made.message);
  }

  // One visit: a cup test with its result; now and then a definitive test; the lab's result days later; the claims.
  void visit(const std::string& name, std::int32_t day) {
    const Time when = at(day, between(9, 16), between(0, 59));
    Act presumptive = newOrder(name, day, false);
    order(when, presumptive);
    Act result = presumptive;
    result.kind = Act::Kind::result;
    result.positive = percent(patients_[name].abstinentDays < 31 ? 14 : patients_[name].abstinentDays < 91 ? 7 : 3);
    plan(Time{when.micros + between(15, 40) * kMinute}, result);
    if (percent(result.positive ? 80 : 22)) {
      Act definitive = newOrder(name, day, true);
      if (result.positive || percent(40))
        definitive.confirms = presumptive.order;
      else if (percent(60))
        definitive.word = percent(50) ? "IA_NOT_AVAILABLE" : "UNEXPECTED_RESULT";
      order(Time{when.micros + between(60, 90) * kMinute}, definitive);
      Act lab = definitive;
      lab.kind = Act::Kind::result;
      lab.positive = result.positive && percent(85);
      lab.on = Date{kFirstDay + day};
      plan(at(day + static_cast<std::int32_t>(between(1, 3)), between(8, 11), between(0, 59)), lab);
    }
  }

  Act newOrder(const std::string& name, std::int32_t day, bool definitive) {
    Act act;
    act.kind = Act::Kind::order;
    act.patient = name;
    act.order = "O" + std::to_string(++patients_[name].orders);
    act.definitive = definitive;
    act.on = Date{kFirstDay + day};
    constexpr const char* cups[] = {"80305", "80305", "80306", "80307"};
    act.code = definitive ? (percent(80) ? "G0480" : "G0481") : cups[random_.below(4)];
    act.method = definitive ? "LCMS" : "IMMUNOASSAY";
    if (percent(8)) act.coverage = "NONE";
    // What goes wrong in an office.
    if (percent(1)) act.code = definitive ? "80307" : "G0480";
    if (definitive && percent(3)) act.method = "IMMUNOASSAY";
    return act;
  }

  void order(Time when, const Act& order) {
    Act rationale = order;
    rationale.kind = Act::Kind::rationale;
    rationale.text = order.definitive ? "individual plan: identify substances after the screen"
                                      : "individual plan: random monitoring";
    if (percent(3)) rationale.text = "as usual";
    if (percent(2)) rationale.word = "STANDING";
    if (!percent(3)) plan(Time{when.micros - 2 * kMinute}, rationale);
    plan(when, order);
  }

  // ---- David, exactly (seed 000, 3.1) ----
  void scheduleDavid() {
    open("David", 112);
    Act one = davids("O1", true, 0);
    plan(at(0, 9), with(one, Act::Kind::rationale));
    plan(at(0, 9), one);
    plan(at(0, 15), with(one, Act::Kind::result));
    plan(at(0, 16), with(one, Act::Kind::claim));
    Act two = davids("O2", false, 3);
    plan(at(3, 9), with(two, Act::Kind::rationale));
    plan(at(3, 9), two);
    Act relapse = with(two, Act::Kind::result);
    relapse.positive = true;
    plan(at(3, 9, 20), relapse);
    Act answer = with(two, Act::Kind::answer);
    answer.text = "increase monitoring; counselling";
    plan(at(3, 10), answer);
    Act three = davids("O3", true, 3);
    three.confirms = "O2";
    plan(at(3, 11), with(three, Act::Kind::rationale));
    plan(at(3, 11), three);
  }
  static Act with(Act act, Act::Kind kind) {
    act.kind = kind;
    act.text = kind == Act::Kind::rationale ? "individual plan: random monitoring" : "";
    return act;
  }
  static Act davids(const char* name, bool definitive, std::int32_t day) {
    Act act;
    act.kind = Act::Kind::order;
    act.patient = "David";
    act.order = name;
    act.definitive = definitive;
    act.code = definitive ? "G0480" : "80307";
    act.method = definitive ? "LCMS" : "IMMUNOASSAY";
    act.on = Date{kFirstDay + day};
    return act;
  }

  // ---- what happens ----
  void perform(Time when, const Act& act) {
    if (act.kind == Act::Kind::answer) return answerPending(when, act);
    // Staff see that the patient waits for the doctor and come back later; some do not look.
    if (const auto release = waits_.find(act.patient); release != waits_.end()) {
      if (percent(12)) propose(when, act);
      Wait& wait = release->second;
      return plan(Time{wait.until.micros + ++wait.queued * 4 * kMinute}, act);
    }
    // No result and no claim for an order that was not placed, save for the odd mistake.
    const bool needsOrder = act.kind == Act::Kind::result || act.kind == Act::Kind::claim;
    if (needsOrder && !patients_[act.patient].placed.contains(act.order) && act.patient != "David" && !percent(2))
      return;
    const Decision made = propose(when, act);
    if (made.outcome == kernel::Outcome::approved) approved(when, act);
    if (made.outcome == kernel::Outcome::escalated) escalated(when, act);
  }

  void approved(Time when, const Act& act) {
    Patient& patient = patients_[act.patient];
    if (act.patient == "David") return;
    if (act.kind == Act::Kind::order) patient.placed.emplace(act.order, act);
    if (act.kind != Act::Kind::result || (act.coverage != "AHCCCS" && !percent(3))) return;
    Act claim = act;
    claim.kind = Act::Kind::claim;
    claim.text.clear();
    plan(Time{when.micros + between(2, 48) * kHour}, claim);
    if (!percent(2)) return;
    claim.text = "b";  // billed twice
    plan(Time{when.micros + between(49, 72) * kHour}, claim);
  }

  void escalated(Time when, const Act& act) {
    const bool david = act.patient == "David";
    Act answer = act;
    answer.kind = Act::Kind::answer;
    const bool relapse = act.kind == Act::Kind::result;
    answer.commit = david || percent(relapse ? 96 : 70);
    constexpr const char* plans[] = {"increase monitoring", "counselling twice a week", "adjust the medication",
                                     "refer to group therapy"};
    answer.text = !answer.commit ? (relapse ? "wrong specimen" : "no separate reason")
                  : relapse      ? plans[random_.below(4)]
                                 : "justified: clinical picture";
    Time decided{when.micros + between(20, 240) * kMinute};
    if (percent(35))
      decided = Time{dateOf(when).days * kMicrosPerDay + kMicrosPerDay + 8 * kHour + between(0, 90) * kMinute};
    if (david) decided = at(3, 10);
    waits_[act.patient] = {decided, 0};
    if (!david) plan(decided, answer);  // David's is planned
  }

  void answerPending(Time when, const Act& act) {
    const bool relapse = partition_.pending(act.patient).value().role == Clinical::name;
    std::string edit = "{}";
    if (relapse && act.commit)
      edit = "{\"relapse.response\":{\"" + act.order +
             "\":" + toJson(RelapseResponse{std::string(kCounselor), when, act.text}) + "}}";
    else if (act.commit)
      edit = "{\"waivers\":{\"add\":[[\"" + std::string(SameDayDefinitive::id) + "\",\"" + act.order + "\"]]}}";
    std::string rest = ",\"counselor\":\"" + std::string(kCounselor) + "\",\"decision\":\"" +
                       (act.commit ? "commit" : "reject") + "\"";
    if (act.commit) rest += ",\"base\":\"candidate\",\"edit\":" + edit;
    write(when, act.patient, rest + ",\"reason\":" + jsonQuoted(act.text));
    const json::value parsed = parseJson(edit).value();
    const std::string id = "a" + std::to_string(++acts_);
    CounselorDecision d;
    d.entity = act.patient;
    d.counselor = kCounselor;
    d.operationId = id;
    d.commit = act.commit;
    d.edit = &parsed.get_object();
    d.at = when;
    const Decision made = partition_.decide(d);
    WITAN_CHECK(made.outcome != kernel::Outcome::refused, "the doctor's answer is taken: " + made.message);
    partition_.takeBatch();
    waits_.erase(act.patient);
    if (!act.commit) return;
    Act done = act;
    done.kind = relapse ? Act::Kind::result : Act::Kind::order;
    approved(when, done);
  }

  Decision propose(Time when, const Act& act) {
    const std::string action = actionOf(act);
    const std::string_view role = act.kind == Act::Kind::result  ? Clinical::name
                                  : act.kind == Act::Kind::claim ? Billing::name
                                                                 : LabOrder::name;
    const std::string_view device = act.kind == Act::Kind::claim                      ? "office"
                                    : act.kind == Act::Kind::result && act.definitive ? "lab"
                                                                                      : "clinic";
    write(when, act.patient,
          ",\"role\":\"" + std::string(role) + "\",\"device\":\"" + std::string(device) + "\",\"action\":" + action);
    const ActionPtr decoded = module_.parseAction(parseJson(action).value()).value();
    const std::string id = "a" + std::to_string(++acts_);
    Proposal p;
    p.entity = act.patient;
    p.role = role;
    p.operationId = id;
    p.action = decoded.get();
    p.at = when;
    Decision made = partition_.propose(p);
    if (partition_.hasOpenBatch()) partition_.takeBatch();
    return made;
  }

  static std::string actionOf(const Act& act) {
    const std::string order = "\"order\":" + jsonQuoted(act.order);
    const std::string day = jsonQuoted(formatDate(act.on));
    if (act.kind == Act::Kind::rationale)
      return "{\"type\":\"DocumentRationale\"," + order + ",\"text\":" + jsonQuoted(act.text) +
             ",\"kind\":" + jsonQuoted(act.word) + "}";
    if (act.kind == Act::Kind::order)
      return "{\"type\":\"OrderTest\"," + order + ",\"kind\":\"" + (act.definitive ? "DEFINITIVE" : "PRESUMPTIVE") +
             "\",\"code\":" + jsonQuoted(act.code) + ",\"method\":" + jsonQuoted(act.method) + ",\"dos\":" + day +
             ",\"confirms\":" + (act.confirms.empty() ? "null" : jsonQuoted(act.confirms)) +
             ",\"coverage\":" + jsonQuoted(act.coverage) + "}";
    if (act.kind == Act::Kind::result)
      return "{\"type\":\"RecordResult\"," + order + ",\"outcome\":\"" + (act.positive ? "POSITIVE" : "NEGATIVE") +
             "\",\"on\":" + day + "}";
    return "{\"type\":\"SubmitClaim\",\"claim\":" + jsonQuoted("C" + act.order.substr(1) + act.text) + "," + order +
           ",\"code\":" + jsonQuoted(act.code) + ",\"dos\":" + day + ",\"units\":1}";
  }

  void write(Time when, const std::string& patient, const std::string& rest) {
    lines_ += "{\"at\":\"" + formatTime(when) + "\",\"entity\":\"" + patient + "\"" + rest + "}\n";
  }

  const DomainModule& module_;
  Partition partition_;
  SeededRandom random_;
  const std::size_t patientCount_;
  const std::int32_t days_;
  std::map<std::string, Patient> patients_;
  std::map<std::string, Wait> waits_;  // the frozen patients
  std::map<std::pair<std::int64_t, std::uint64_t>, Act> agenda_;
  std::uint64_t planned_ = 0;
  std::uint64_t acts_ = 0;
  std::string lines_;
};

}  // namespace

std::string Udt::generate(const DomainModule& module, std::size_t patients, std::size_t days, std::uint64_t seed) {
  return Clinic(module, patients, days, seed).run();
}

}  // namespace witan::domains::udt
