#include "tests/long/clients.h"

#include <set>

#include "base/bytes.h"
#include "base/time.h"
#include "domains/registry.h"

namespace witan::node::test {

using kernel::Outcome;
using sim::Operation;
using sim::OperationKind;
using std::chrono::milliseconds;

namespace {

constexpr std::int64_t kAnswerMs = 2'000, kCallMs = 6'000;
constexpr auto kAWhile = std::chrono::seconds(8);
constexpr std::size_t kBudgets = 3, kActsOfABudget = 120;

std::int64_t micros(std::chrono::steady_clock::time_point at) {
  return std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count();
}

std::string textOf(const json::object& answer, const char* member) {
  const json::value* value = answer.if_contains(member);
  return value == nullptr || !value->is_string() ? std::string() : std::string(value->get_string());
}

// What a node said; none: not yet.
std::optional<kernel::Decision> decisionIn(const json::object& answer) {
  const auto outcome = parseEnum<Outcome>(textOf(answer, "outcome"));
  if (!outcome) return std::nullopt;  // waiting
  kernel::Decision told;
  told.outcome = *outcome;
  if (answer.at("duplicate").as_bool()) told.recorded = std::exchange(told.outcome, Outcome::duplicate);
  if (const json::value& seq = answer.at("ledgerSeq"); !seq.is_null()) told.seq = seq.to_number<std::uint64_t>();
  told.invariant = textOf(answer, "invariant");
  told.message = textOf(answer, "message");
  if (const json::value* safe = answer.if_contains("safe")) told.safe = safe->as_bool();
  return told;
}

}  // namespace

// One of them: where it asks, and what it has asked so far.
class Clients::Client {
 public:
  Client(Clients& all, std::uint32_t number, std::uint64_t seed)
      : random(seed), number_(number), all_(all), at_(number % all.doors_.size()) {}

  // Whether it was answered.
  bool begin(const std::string& domain, const std::string& entity, const json::object& fields) {
    Operation operation = newOperation(OperationKind::init, entity);
    operation.fields = canonicalJson(fields);
    return perform(domain, std::move(operation), "/v1/entities", {{"init", fields}}, Patience::untilAnswered)
        .has_value();
  }
  std::optional<Outcome> propose(const kernel::DomainModule& module, const std::string& entity, const std::string& role,
                                 const json::object& action, Patience patience = Patience::untilAnswered) {
    Operation operation = newOperation(OperationKind::propose, entity);
    operation.role = role;
    auto parsed = module.parseAction(action);
    WITAN_CHECK(parsed.ok(), "an action of the domain");
    module.writeAction(operation.action, **parsed);
    return perform(module.signature().domain, std::move(operation), "/v1/propose", {{"role", role}, {"action", action}},
                   patience);
  }
  // Decides on what waits about a patient, if it can be seen anywhere.
  void decide(const std::string& entity, bool commit) {
    const std::string digest = pendingDigest(entity);
    if (digest.empty()) return;
    Operation operation = newOperation(OperationKind::decide, entity);
    operation.counselor = "dr.supervising";
    operation.reason = commit ? "seen" : "specimen mix-up";
    operation.commit = commit;
    operation.pendingDigest = *hashFromHex(digest);
    json::object body{{"counselor", operation.counselor}, {"reason", operation.reason}, {"digest", digest}};
    body["decision"] = commit ? "commit" : "reject";
    if (commit) {
      const json::array response{operation.counselor, formatTime(SystemClock().now()), "increase monitoring"};
      const json::object edit{{"relapse.response", json::object{{"O1", response}}}};
      body["edit"] = edit;
      operation.fields = canonicalJson(edit);
    }
    (void)perform("udt", std::move(operation), "/v1/queue/decide", std::move(body), Patience::untilAnswered);
  }
  // Writes into the journal, until a node has it.
  void note() {
    const std::string id = "note/" + std::to_string(number_) + "/" + std::to_string(++notes_);
    const json::object line{{"id", id}, {"type", "note"}, {"payload", "seen"}};
    while (!all_.givenUp_) {
      if (door().post("/v1/feed", line, kCallMs).ok()) return all_.book_.entered(id);
      another();
    }
  }

  SeededRandom random;
  std::uint32_t number() const { return number_; }

 private:
  const ControlClient& door() const { return all_.doors_[at_]; }
  void another() {
    std::this_thread::sleep_for(milliseconds(50));  // not as fast as it can
    if (++failures_ % 3 == 0) at_ = random.below(all_.doors_.size());
  }
  Operation newOperation(OperationKind kind, const std::string& entity) {
    Operation operation;
    operation.client = number_;
    operation.kind = kind;
    operation.entity = entity;
    operation.operationId = "c" + std::to_string(number_) + "-" + std::to_string(++acts_);
    return operation;
  }

  std::optional<Outcome> perform(const std::string& domain, Operation operation, const char* path, json::object body,
                                 Patience patience) {
    body["domain"] = domain;
    body["entity"] = operation.entity;
    body["operationId"] = operation.operationId;
    body["waitMs"] = kAnswerMs;
    std::set<std::size_t> asked;
    std::optional<kernel::Decision> told = ask(operation, path, body, patience, asked);
    // Whichever of its tries made it. (Of beginnings the checkers know that.)
    if (told && told->outcome == Outcome::duplicate && operation.kind != OperationKind::init)
      told->outcome = std::exchange(told->recorded, Outcome::duplicate);
    if (told) operation.answer.decision = *told;
    const bool repeats = told && told->seq != 0 && random.below(8) == 0 && asked.size() < all_.doors_.size();
    const Operation first = operation;
    all_.book_.add(domain, std::move(operation));
    if (repeats) repeat(domain, first, path, body, asked);
    return told ? std::optional<Outcome>(told->outcome) : std::nullopt;
  }
  // At a node that has nothing of it under way.
  void repeat(const std::string& domain, Operation operation, const char* path, const json::object& body,
              std::set<std::size_t> asked) {
    while (asked.contains(at_)) at_ = random.below(all_.doors_.size());
    operation.returned.reset();
    operation.answer = {};
    asked.clear();
    const auto told = ask(operation, path, body, Patience::aWhile, asked);
    if (told && asked.size() == 1)
      operation.answer.decision = *told;
    else  // perhaps said by a node that was asked before
      operation.returned.reset();
    all_.book_.add(domain, std::move(operation));
  }
  std::optional<kernel::Decision> ask(Operation& operation, const char* path, const json::object& body,
                                      Patience patience, std::set<std::size_t>& asked) {
    const auto began = Clock::now();
    operation.invoked = micros(began);
    while (!all_.givenUp_ && (patience == Patience::untilAnswered || Clock::now() < began + kAWhile)) {
      asked.insert(at_);
      const auto answer = door().post(path, body, kCallMs);
      if (!answer.ok() && answer.error().code == ErrorCode::invalidInput)
        all_.book_.complain(nameOf(operation) + ": " + answer.error().message);
      const auto told = answer.ok() ? decisionIn(answer->as_object()) : std::nullopt;
      if (told) {
        operation.returned = micros(Clock::now());
        return told;
      }
      another();
    }
    if (patience == Patience::untilAnswered) ++all_.unanswered_;
    return std::nullopt;
  }
  // The digest of what waits; empty: the clients have given up.
  std::string pendingDigest(const std::string& entity) {
    while (!all_.givenUp_) {
      const auto queue = door().get("/v1/queue?domain=udt");
      if (queue.ok())
        for (const json::value& row : queue->at("queue").as_array())
          if (row.at("entity").as_string() == entity) return std::string(row.at("digest").as_string());
      another();
    }
    return {};
  }

  const std::uint32_t number_;
  Clients& all_;
  std::size_t at_;
  std::size_t acts_ = 0, notes_ = 0, failures_ = 0;
};

Clients::Clients(Doors doors, Book& book, std::uint64_t seed, std::size_t spenders, std::size_t clinics,
                 std::chrono::milliseconds pause)
    : doors_(std::move(doors)),
      book_(book),
      pause_(pause),
      budget_(domains::makeDomain("budget").value()),
      udt_(domains::makeDomain("udt").value()) {
  for (std::size_t i = 0; i < spenders + clinics; ++i)
    threads_.emplace_back([this, i, seed, spends = i < spenders] {
      Client client(*this, static_cast<std::uint32_t>(i), seed * 1'000 + i);
      spends ? spend(client) : attend(client);
    });
}

Clients::~Clients() { (void)finish(std::chrono::seconds(0)); }

bool Clients::goesOn() {
  std::this_thread::sleep_for(pause_);  // the rate of the load
  return !stopped_;
}

bool Clients::finish(std::chrono::seconds patience) {
  stopped_ = true;
  std::atomic<bool> done{false};
  std::thread clock([&] {
    const auto until = Clock::now() + patience;
    while (!done && Clock::now() < until) std::this_thread::sleep_for(milliseconds(20));
    givenUp_ = true;
  });
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  done = true;
  clock.join();
  return unanswered_ == 0;
}

std::string Clients::lately(const std::string& what) {
  const std::lock_guard lock(mutex_);
  return lately_[what];
}
void Clients::setLately(const std::string& what, const std::string& entity) {
  const std::lock_guard lock(mutex_);
  lately_[what] = entity;
}

void Clients::spend(Client& client) {
  const std::string line = "b" + std::to_string(client.number() % kBudgets);
  for (std::size_t n = 0; goesOn(); ++n) {
    if (client.number() < kBudgets && n % kActsOfABudget == 0) {
      const std::string next = line + "-" + std::to_string(n / kActsOfABudget);
      if (client.begin("budget", next, {})) setLately(line, next);
    }
    const std::string current = lately(line);
    if (current.empty()) continue;
    const bool a = client.number() % 2 == 0;
    const auto amount = static_cast<std::int64_t>(1 + client.random.below(1'500));
    // Now and then in a role that may not.
    const std::string role = n % 8 == 1 ? (a ? "B" : "A") : (a ? "A" : "B");
    (void)client.propose(*budget_, current, role, {{"type", a ? "SpendA" : "SpendB"}, {"n", amount}});
    if (n % 10 == 9) client.note();
    if (n % 10 == 4) poke(client);
  }
}

void Clients::poke(Client& client) {
  const std::string patient = lately("patient");
  if (!patient.empty())
    (void)client.propose(*udt_, patient, "Clinical", {{"type", "AdvanceAbstinence"}}, Patience::aWhile);
}

// A patient is brought to its end also when no new one is begun: nobody stays frozen.
void Clients::attend(Client& client) {
  const std::string today = formatTime(SystemClock().now()).substr(0, 10);
  for (std::size_t n = 0; goesOn(); ++n) {
    const std::string patient = "p" + std::to_string(client.number()) + "-" + std::to_string(n);
    if (!client.begin("udt", patient, {{"baselinePositiveOn", "2026-01-17"}})) return;
    setLately("patient", patient);
    (void)client.propose(*udt_, patient, "LabOrder",
                         {{"type", "DocumentRationale"},
                          {"order", "O1"},
                          {"text", "treatment plan: random monitoring"},
                          {"kind", "INDIVIDUAL"}});
    (void)client.propose(*udt_, patient, "LabOrder",
                         {{"type", "OrderTest"},
                          {"order", "O1"},
                          {"kind", "PRESUMPTIVE"},
                          {"code", "80307"},
                          {"method", "IMMUNOASSAY"},
                          {"dos", today}});
    const auto told =
        client.propose(*udt_, patient, "Clinical",
                       {{"type", "RecordResult"}, {"order", "O1"}, {"outcome", "POSITIVE"}, {"on", today}});
    std::this_thread::sleep_for(pause_);
    if (told == Outcome::escalated) client.decide(patient, n % 2 == 0);
  }
}

}  // namespace witan::node::test
