#include "bench/workload.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/json_codec.h"

namespace witan::bench {

using namespace kernel;

void Messages::add(const ProposalMessage& message, Time at) {
  static WordWriter writer;
  const std::string_view bytes = writer.message(message);
  const std::size_t start = words_.size();
  words_.resize(start + bytes.size() / 8);
  std::memcpy(words_.data() + start, bytes.data(), bytes.size());
  ends_.push_back(words_.size());
  times_.push_back(at);
}

std::string_view Messages::bytes(std::size_t i) const {
  const std::size_t start = i == 0 ? 0 : ends_[i - 1];
  return {reinterpret_cast<const char*>(words_.data() + start), (ends_[i] - start) * 8};
}

namespace {

// Operation ids as run keys make them: 64 hex digits.
std::string operationName(SeededRandom& random) {
  char text[65];
  for (int i = 0; i < 4; ++i)
    std::snprintf(text + 16 * i, 17, "%016llx", static_cast<unsigned long long>(random.next()));
  return text;
}

}  // namespace

void ActionMaker::add(Messages& out, const std::string& entity, std::string_view role, std::string_view type,
                      const std::string& json, Time at) {
  const ActionPtr action = must(module_.parseAction(must(parseJson(json), "action")), "action");
  const std::string bytes = module_.encodeAction(*action);
  const std::string operation = operationName(random);
  out.add({entity,
           role,
           operation,
           "device-7",
           "agent/intake-3",
           type,
           {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}},
          at);
}

namespace {

void mustInit(Partition& partition, const std::string& entity, const json::object& fields, Time at) {
  const Decision made = partition.init(entity, fields, at);
  if (made.outcome != Outcome::initialised) fail("init of " + entity + ": " + made.message);
}

class BudgetWorkload final : public Workload {
 public:
  BudgetWorkload(const DomainModule& module, std::size_t entities, std::uint64_t seed)
      : make_(module, seed), entities_(entities) {}

  void begin(Partition& partition, std::size_t batch) override {
    Messages first;
    std::uint64_t logBytes = 0;
    for (std::size_t i = 0; i < entities_; ++i) {
      mustInit(partition, name(i), {}, Time{0});
      spend(first, i);
      if (first.size() < 10'000 && i + 1 < entities_) continue;
      decideAll(partition, first, 0, first.size(), batch, logBytes);
      first.clear();
    }
  }
  void fill(Messages& out, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) spend(out, make_.random.below(entities_));
  }

 private:
  static std::string name(std::size_t i) { return concat("budget/team-", i); }
  void spend(Messages& out, std::size_t entity) {
    const bool a = make_.random.below(2) == 0;
    const std::string n = std::to_string(1 + make_.random.below(9));
    at_.micros += 10;
    make_.add(out, name(entity), a ? "A" : "B", a ? "SpendA" : "SpendB",
              concat(a ? R"({"type":"SpendA","n":)" : R"({"type":"SpendB","n":)", n, "}"), at_);
  }
  ActionMaker make_;
  std::size_t entities_;
  Time at_{1'700'000'000'000'000};
};

constexpr std::int64_t kDay = 86'400'000'000;
constexpr std::int64_t kFirstDay = 18'262;  // 2020-01-01
constexpr std::int64_t kSpacing = 11;       // days between orders of a patient: within every limit
constexpr std::string_view kRationale = "individualised plan, random monitoring at this tier";

class ClinicWorkload final : public Workload {
 public:
  ClinicWorkload(const DomainModule& module, std::size_t patients, std::size_t orders, std::uint64_t seed)
      : make_(module, seed), patients_(patients, {static_cast<std::uint32_t>(orders), 0}), orders_(orders) {}

  void begin(Partition& partition, std::size_t batch) override {
    Messages first;
    std::uint64_t logBytes = 0;
    const json::object past = pastOf(orders_);
    for (std::size_t i = 0; i < patients_.size(); ++i) {
      mustInit(partition, name(i), past, timeOf(orders_, -1));
      make_.add(first, name(i), "Clinical", "AdvanceAbstinence", R"({"type":"AdvanceAbstinence"})",
                timeOf(orders_, -1));
      if (first.size() < 1'000 && i + 1 < patients_.size()) continue;
      decideAll(partition, first, 0, first.size(), batch, logBytes);
      first.clear();
    }
  }
  void fill(Messages& out, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t patient = make_.random.below(patients_.size());
      if (++made_ % 32 == 0)
        unlawful(out, patient);
      else
        next(out, patient);
    }
  }

 private:
  struct Patient {
    std::uint32_t order = 0;  // number of the current one
    std::uint32_t step = 0;
  };
  static std::string name(std::size_t i) { return concat("patient/", i); }
  static std::string orderName(std::uint64_t i) {
    char text[32];
    std::snprintf(text, sizeof text, "O-%06llu", static_cast<unsigned long long>(i));
    return text;
  }
  static bool definitive(std::uint64_t i) { return i % 4 == 3; }
  static std::string codeOf(std::uint64_t i) { return definitive(i) ? "G0480" : "80307"; }
  static std::int64_t dayOf(std::uint64_t i) { return kFirstDay + static_cast<std::int64_t>(i) * kSpacing; }
  static std::string dateText(std::uint64_t i) { return formatDate(Date{static_cast<std::int32_t>(dayOf(i))}); }
  static Time timeOf(std::uint64_t i, int step) { return Time{dayOf(i) * kDay + (step + 9) * 3'600'000'000}; }

  static json::object pastOf(std::size_t orders) {
    json::object all;
    const auto column = [&](const char* field, bool claims, auto value) {
      json::object cells;
      for (std::size_t i = 0; i < orders; ++i) cells[(claims ? "C" : "") + orderName(i)] = value(i);
      if (orders > 0) all[field] = std::move(cells);
    };
    column("rationale.text", false, [](std::size_t) { return json::string(kRationale); });
    column("rationale.kind", false, [](std::size_t) { return "INDIVIDUAL"; });
    column("order.kind", false, [](std::size_t i) { return definitive(i) ? "DEFINITIVE" : "PRESUMPTIVE"; });
    column("order.code", false, [](std::size_t i) { return json::string(codeOf(i)); });
    column("order.method", false, [](std::size_t i) { return definitive(i) ? "LCMS" : "IMMUNOASSAY"; });
    column("order.dos", false, [](std::size_t i) { return json::string(dateText(i)); });
    column("order.coverage", false, [](std::size_t) { return "AHCCCS"; });
    column("order.orderedAt", false, [](std::size_t i) { return json::string(formatTime(timeOf(i, 1))); });
    column("result.outcome", false, [](std::size_t) { return "NEGATIVE"; });
    column("result.on", false, [](std::size_t i) { return json::string(dateText(i)); });
    column("result.recordedAt", false, [](std::size_t i) { return json::string(formatTime(timeOf(i, 2))); });
    column("claim.order", true, [](std::size_t i) { return json::string(orderName(i)); });
    column("claim.code", true, [](std::size_t i) { return json::string(codeOf(i)); });
    column("claim.dos", true, [](std::size_t i) { return json::string(dateText(i)); });
    column("claim.units", true, [](std::size_t) { return 1; });
    column("claim.status", true, [](std::size_t) { return "SUBMITTED"; });
    all["baselinePositiveOn"] = formatDate(Date{kFirstDay - 400});
    return all;
  }

  void next(Messages& out, std::size_t patient) {
    Patient& p = patients_[patient];
    const std::string id = orderName(p.order);
    const Time at = timeOf(p.order, static_cast<int>(p.step));
    switch (p.step) {
      case 0: propose(out, patient, "LabOrder", "DocumentRationale", {{"order", id}, {"text", kRationale}}, at); break;
      case 1: propose(out, patient, "LabOrder", "OrderTest", orderArguments(p.order), at); break;
      case 2:
        propose(out, patient, "Clinical", "RecordResult",
                {{"order", id}, {"outcome", "NEGATIVE"}, {"on", dateText(p.order)}}, at);
        break;
      case 3: propose(out, patient, "Billing", "SubmitClaim", claimArguments(p.order, codeOf(p.order)), at); break;
      default: propose(out, patient, "Clinical", "AdvanceAbstinence", {}, at); break;
    }
    if (++p.step == 5) p = {p.order + 1, 0};
  }

  // Bills another code for an old order, or repeats an order.
  void unlawful(Messages& out, std::size_t patient) {
    const Patient& p = patients_[patient];
    const Time at = timeOf(p.order, static_cast<int>(p.step));
    if (p.order == 0) return next(out, patient);
    if (make_.random.below(2) == 0)
      propose(out, patient, "Billing", "SubmitClaim", claimArguments(p.order - 1, "G0659"), at);
    else
      propose(out, patient, "LabOrder", "OrderTest", orderArguments(p.order - 1), at);
  }

  static json::object orderArguments(std::uint64_t i) {
    return {{"order", orderName(i)},
            {"kind", definitive(i) ? "DEFINITIVE" : "PRESUMPTIVE"},
            {"code", codeOf(i)},
            {"method", definitive(i) ? "LCMS" : "IMMUNOASSAY"},
            {"dos", dateText(i)}};
  }
  static json::object claimArguments(std::uint64_t i, const std::string& code) {
    return {{"claim", "C" + orderName(i)}, {"order", orderName(i)}, {"code", code}, {"dos", dateText(i)}};
  }
  void propose(Messages& out, std::size_t patient, std::string_view role, std::string_view type, json::object arguments,
               Time at) {
    arguments["type"] = type;
    make_.add(out, name(patient), role, type, canonicalJson(arguments), at);
  }

  ActionMaker make_;
  std::vector<Patient> patients_;
  std::size_t orders_;
  std::uint64_t made_ = 0;
};

}  // namespace

std::unique_ptr<Workload> budgetWorkload(const DomainModule& module, std::size_t entities, std::uint64_t seed) {
  return std::make_unique<BudgetWorkload>(module, entities, seed);
}
std::unique_ptr<Workload> clinicWorkload(const DomainModule& module, std::size_t patients, std::size_t orders,
                                         std::uint64_t seed) {
  return std::make_unique<ClinicWorkload>(module, patients, orders, seed);
}

namespace {

// Decided as a group: decoded first, so that the partition can be told whom to expect.
constexpr std::size_t kGroup = 12;

using Group = std::vector<ProposalMessage>;

void decode(Group& group, const Partition& partition, const Messages& messages, std::size_t from, std::size_t count) {
  group.clear();
  std::array<std::string_view, kGroup> entities;
  for (std::size_t i = 0; i < count; ++i) {
    group.push_back(must(readProposalMessage(messages.bytes(from + i)), "message"));
    entities[i] = group.back().entity;
  }
  partition.expect({entities.data(), count});
}

Outcome decideOne(Partition& partition, const ProposalMessage& message, Time at) {
  const ActionPtr action = must(actionOf(partition.module(), message), "action");
  const Decision decision = partition.propose(
      {message.entity, message.role, message.operationId, message.device, message.agent, action.get(), at});
  if (decision.seq == 0) fail("a proposal without an entry: " + decision.message);
  return decision.outcome;
}

}  // namespace

std::size_t decideAll(Partition& partition, const Messages& messages, std::size_t from, std::size_t count,
                      std::size_t batch, std::uint64_t& logBytes) {
  std::size_t approved = 0;
  Group group;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kGroup == 0) decode(group, partition, messages, from + i, std::min(kGroup, count - i));
    approved += decideOne(partition, group[i % kGroup], messages.at(from + i)) == Outcome::approved;
    if (batch == 0 || (i + 1) % batch != 0) continue;
    Partition::Batch taken = partition.takeBatch();
    logBytes += taken.value.size();
    partition.reuse(std::move(taken));
  }
  return approved;
}

double medianRate(std::size_t rounds, const std::function<Round(std::size_t)>& run) {
  std::vector<double> rates;
  for (std::size_t number = 1; number <= rounds; ++number) {
    const Round round = run(number);
    const auto decisions = static_cast<double>(round.decisions);
    rates.push_back(decisions / round.seconds);
    std::printf("  round %zu: %.0f decisions/s, %.1f%% approved, %.0f log bytes each\n", number, rates.back(),
                100.0 * static_cast<double>(round.approved) / decisions,
                static_cast<double>(round.logBytes) / decisions);
  }
  return median(rates);
}

}  // namespace witan::bench
