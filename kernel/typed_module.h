// TypedModule<D>: the DomainModule of a domain type. Authors write one line: makeModule<Budget>().
#pragma once

#include <memory>
#include <utility>

#include "base/capnp_codec.h"
#include "base/json_schema.h"
#include "kernel/domain.h"
#include "kernel/domain_module.h"
#include "kernel/state_codec.h"

namespace witan::kernel {

template <Counselable D>
class TypedModule final : public DomainModule {
 public:
  using Fields = typename D::Fields;
  using State = typename Journal<Fields>::State;
  using Policy = typename State::Policy;
  using Processes = typename AllProcesses<typename D::Roles>::Tuple;
  static constexpr std::size_t kProcesses = std::tuple_size_v<Processes>;

  TypedModule(Policy policy, std::vector<std::string> counselors, std::string_view scenarios)
      : policy_(std::move(policy)), scenarios_(scenarios) {
    describe();
    signature_.counselors = std::move(counselors);
    digest_ = sha256(signature_.canonical(policyJson()));
  }

  const Signature& signature() const override { return signature_; }
  std::string policyJson() const override { return toJson(policy_); }
  const Hash& digest() const override { return digest_; }
  std::string_view scenarios() const override {
    if constexpr (requires { D::scenarios; })
      return D::scenarios;
    else
      return scenarios_;
  }

  Result<EntityPtr> create(const json::object& fields, Time at) const override {
    auto box = std::make_unique<Box>();
    FieldMask given = 0;
    Journal<Fields> journal;
    Mutator<Fields> m(box->state, journal, policy_);
    try {
      for (const auto& [name, value] : fields) {
        WITAN_TRY(mask, StateCodec<Fields>::setField(m, name, value, "init"));
        given |= mask;
      }
    } catch (const Fault& fault) {
      return invalid("init: " + fault.message);
    }
    box->shared.clock = at;
    if constexpr (requires { D::complete(box->state, policy_, given, at); })
      D::complete(box->state, policy_, given, at);
    const std::vector<Verdict> verdicts = walk(*box);
    for (std::size_t i = 0; i < verdicts.size(); ++i)
      if (!verdicts[i].passed())
        return invalid("the initial state violates " + signature_.invariants[i].id + " (" + verdicts[i].message() + ")",
                       "every history starts from a state that keeps all invariants");
    return EntityPtr(std::move(box));
  }

  void prefetch(const EntityState& entity) const override {
    const State& state = boxOf(entity).state;
    forEachField<Fields>([&]<class F>() {
      if constexpr (F::isColumn) {
        if constexpr (firstOfTable<F>()) (state.*F::table).prefetch();
      }
    });
  }
  EntityPtr clone(const EntityState& entity) const override { return std::make_unique<Box>(boxOf(entity)); }

  Result<ActionPtr> parseAction(const json::value& value) const override {
    if (!value.is_object()) return wrongJsonType("action", "an object", value);
    const json::value* type = value.get_object().if_contains("type");
    if (type == nullptr || !type->is_string())
      return invalid("action: \"type\" is missing", "known types: " + actionNames());
    return withProcess<ActionPtr>(type->get_string(), [&]<class P>(auto index) -> Result<ActionPtr> {
      auto action = std::make_unique<Act<P>>(index);
      WITAN_DO(JsonCodec<P>::read(value, action->value, P::name, "type"));
      return ActionPtr(std::move(action));
    });
  }

  Result<ActionPtr> decodeAction(std::string_view type, capnp::AnyStruct::Reader from) const override {
    return withProcess<ActionPtr>(type, [&]<class P>(auto index) -> Result<ActionPtr> {
      auto action = std::make_unique<Act<P>>(index);
      WITAN_DO(readCapnp(from, action->value, P::name));
      return ActionPtr(std::move(action));
    });
  }

  void writeAction(std::string& out, const Action& action) const override {
    visit(action, [&]<class P>(const P& value) { JsonCodec<P>::write(out, value, P::name); });
  }

  std::string encodeAction(const Action& action) const override {
    std::string bytes;
    visit(action, [&]<class P>(const P& value) { bytes = WordWriter().message(value); });
    return bytes;
  }

  std::string actionSchema() const override {
    std::string out = actionSchemaHead(D::name);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((out += "\n# Role " + signature_.processes[I].role + ".\n" +
               capnpSchema<std::tuple_element_t<I, Processes>>(std::tuple_element_t<I, Processes>::name)),
       ...);
    }
    (std::make_index_sequence<kProcesses>{});
    return out;
  }

  void evaluate(EntityState& entity, std::string_view role, const Action& action, Time at,
                Evaluation& out) const override {
    decide(entity, role, action, at, out, false);
  }
  void evaluateFully(EntityState& entity, std::string_view role, const Action& action, Time at,
                     Evaluation& out) const override {
    decide(entity, role, action, at, out, true);
  }

  Status counselorCommit(EntityState& entity, CommitBase base, const Action* pending, const json::object& edit, Time at,
                         Evaluation& out) const override {
    Box& box = boxOf(entity);
    Journal<Fields>& journal = scratchJournal();
    Mutator<Fields> m(box.state, journal, policy_);
    const PublicFields before = box.shared;
    auto restore = [&](Error error) -> Status {
      journal.undo(box.state);
      box.shared = before;
      return error;
    };
    box.shared.clock = at;
    if (base == CommitBase::candidate && pending != nullptr) {
      std::string fault = applyAction(m, *pending, at);
      if (!fault.empty())
        return restore(
            invalid("the candidate can no longer be made (" + fault + ")", "commit from \"current\" or reject"));
    }
    bool waiversChanged = false;
    for (const auto& [name, value] : edit) {
      if (name == "waivers") {
        Status status = addWaivers(box.shared, value);
        if (!status.ok()) return restore(status.error());
        waiversChanged = true;
        continue;
      }
      if (name == "clock" || name == "policy")
        return restore(invalid("edit." + std::string(name) + ": belongs to the kernel and can't be edited"));
      try {
        auto mask = StateCodec<Fields>::setField(m, name, value, "edit");
        if (!mask) return restore(mask.error());
      } catch (const Fault& fault) {
        return restore(invalid("edit." + std::string(name) + ": " + fault.message));
      }
    }
    out.reset(kInvariants);
    out.verdicts[0] = static_cast<std::uint8_t>(InvResult::pass);
    std::uint64_t notPassing = 0;
    forEachInvariant([&]<class I>(auto index) {
      Verdict verdict = full<I>(box);
      out.verdicts[index + 1] = static_cast<std::uint8_t>(verdict.result());
      if (!verdict.passed()) {
        notPassing |= std::uint64_t{1} << index;
        out.findings.push_back(
            {static_cast<std::uint16_t>(index + 1), verdict.result(), std::move(verdict).takeMessage()});
      }
      return true;
    });
    box.notPassing = notPassing;
    appendCommitWrites(out.writes, journal, box, waiversChanged);
    journal.clear();
    return okStatus();
  }

  std::vector<Verdict> walk(const EntityState& entity) const override {
    std::vector<Verdict> verdicts;
    verdicts.reserve(kInvariants);
    forEachInvariant([&]<class I>(auto) {
      verdicts.push_back(full<I>(boxOf(entity)));
      return true;
    });
    return verdicts;
  }

  Status applyWrites(EntityState& entity, const json::object& writes) const override {
    Box& box = boxOf(entity);
    Journal<Fields>& journal = scratchJournal();
    Mutator<Fields> m(box.state, journal, policy_);
    for (const auto& [name, value] : writes) {
      Status status = okStatus();
      if (name == "waivers")
        status = readJson(value, box.shared.waivers, "waivers");
      else if (name == "clock")
        status = readJson(value, box.shared.clock, "clock");
      else {
        try {
          if (auto mask = StateCodec<Fields>::setField(m, name, value, "writes"); !mask) status = mask.error();
        } catch (const Fault& fault) {
          status = invalid("writes." + std::string(name) + ": " + fault.message);
        }
      }
      if (!status.ok()) {
        journal.undo(box.state);
        return status;
      }
    }
    journal.clear();
    return okStatus();
  }

  void writeState(std::string& out, const EntityState& entity, FieldMask mask) const override {
    const Box& box = boxOf(entity);
    StateCodec<Fields>::write(out, box.state, box.shared, mask);
  }

  Result<EntityPtr> readState(const json::object& state) const override {
    auto box = std::make_unique<Box>();
    WITAN_DO(applyWrites(*box, state));
    const std::vector<Verdict> verdicts = walk(*box);
    for (std::size_t i = 0; i < verdicts.size(); ++i)
      if (!verdicts[i].passed()) box->notPassing |= std::uint64_t{1} << i;
    return EntityPtr(std::move(box));
  }

  ActionPtr sample(const EntityState& entity, Random& random, Time at) const override {
    if constexpr (requires(const State& s) { D::sample(s, random, at); }) {
      return std::visit(
          [](auto&& value) -> ActionPtr {
            using P = std::decay_t<decltype(value)>;
            auto action = std::make_unique<Act<P>>(indexOfProcess<P>());
            action->value = std::forward<decltype(value)>(value);
            return action;
          },
          D::sample(boxOf(entity).state, random, at));
    } else {
      (void)entity, (void)random, (void)at;
      return nullptr;
    }
  }
  std::string sampleInit(Random& random, Time at) const override {
    if constexpr (requires { D::sampleInit(random, at); })
      return D::sampleInit(random, at);
    else
      return "{}";
  }

  std::string sampleEdit(const EntityState& entity, const Action& pending, std::string_view counselor, Random& random,
                         Time at) const override {
    std::string edit = "{}";
    if constexpr (requires(const State& s, const AnyActionOf<typename D::Roles>& a) {
                    D::sampleEdit(s, a, counselor, random, at);
                  })
      visit(pending, [&](const auto& value) {
        edit = D::sampleEdit(boxOf(entity).state, AnyActionOf<typename D::Roles>(value), counselor, random, at);
      });
    else
      (void)entity, (void)pending, (void)counselor, (void)random, (void)at;
    return edit;
  }
  std::string generate(std::size_t entities, std::size_t days, std::uint64_t seed) const override {
    if constexpr (requires(const DomainModule& m) { D::generate(m, entities, days, seed); })
      return D::generate(*this, entities, days, seed);
    else
      return (void)entities, (void)days, (void)seed, std::string();
  }

  // For tests that speak in types.
  struct Box final : EntityState {
    State state;
  };
  static Box& boxOf(EntityState& entity) { return static_cast<Box&>(entity); }
  static const Box& boxOf(const EntityState& entity) { return static_cast<const Box&>(entity); }
  const Policy& policy() const { return policy_; }
  template <class P>
  static ActionPtr makeAction(P value) {
    auto action = std::make_unique<Act<P>>(indexOfProcess<P>());
    action->value = std::move(value);
    return action;
  }

 private:
  template <class P>
  struct Act final : Action {
    using Action::Action;
    P value;
  };

  template <class List>
  struct CountOf;
  template <class... I>
  struct CountOf<InvariantList<I...>> {
    static constexpr std::size_t value = sizeof...(I);
  };
  static constexpr std::size_t kInvariants = CountOf<typename D::Invariants>::value;

  // Calls visit.operator()<I>(index) in list order until it returns false.
  template <class Visit>
  static void forEachInvariant(Visit&& visit) {
    [&]<class... I>(InvariantList<I...>) {
      std::size_t index = 0;
      (void)(visit.template operator()<I>(index++) && ...);
    }(typename D::Invariants{});
  }

  // Is F the first column of its table in the list?
  template <class F>
  static constexpr bool firstOfTable() {
    bool earlier = false;
    forEachField<Fields>(
        [&]<class G>() { earlier = earlier || (indexOf<G, Fields> < indexOf<F, Fields> && livesIn<G, F::table>()); });
    return !earlier;
  }

  template <class P>
  static constexpr std::uint16_t indexOfProcess() {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return static_cast<std::uint16_t>(((std::is_same_v<P, std::tuple_element_t<I, Processes>> ? I : 0) + ...));
    }
    (std::make_index_sequence<kProcesses>{});
  }

  template <class T, class Visit>
  Result<T> withProcess(std::string_view type, Visit&& visit) const {
    std::optional<Result<T>> result;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (void)((std::tuple_element_t<I, Processes>::name == type &&
              (result.emplace(
                   visit.template operator()<std::tuple_element_t<I, Processes>>(static_cast<std::uint16_t>(I))),
               true)) ||
             ...);
    }
    (std::make_index_sequence<kProcesses>{});
    if (result) return std::move(*result);
    return unknownAction(type);
  }

  template <class Visit>
  static void visit(const Action& action, Visit&& visitor) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (void)((action.process == I &&
              (visitor(static_cast<const Act<std::tuple_element_t<I, Processes>>&>(action).value), true)) ||
             ...);
    }
    (std::make_index_sequence<kProcesses>{});
  }

  std::string actionNames() const {
    std::string names;
    for (const ProcessInfo& p : signature_.processes)
      if (!p.role.empty()) names += (names.empty() ? "" : ", ") + p.name;
    return names;
  }
  Error unknownAction(std::string_view type) const {
    return invalid("unknown action \"" + std::string(clip(type)) + "\"", "known types: " + actionNames());
  }

  // One journal per thread and domain: its vectors keep their memory between decisions.
  static Journal<Fields>& scratchJournal() {
    static thread_local Journal<Fields> journal;
    return journal;
  }

  // Returns the fault, or "".
  static std::string applyAction(Mutator<Fields>& m, const Action& action, Time at) {
    try {
      visit(action, [&](const auto& value) { value.apply(m, at); });
    } catch (const Fault& fault) {
      return fault.message.empty() ? "the mutation faulted" : fault.message;
    } catch (const std::exception& e) {
      return std::string("the mutation threw: ") + e.what();
    } catch (...) {
      return "the mutation threw";
    }
    return {};
  }

  // An invariant that throws fails closed under its own id.
  template <class Check>
  static Verdict guarded(Check&& check) {
    try {
      return check();
    } catch (const Fault& fault) {
      return Verdict::reject("the invariant could not be evaluated: " + fault.message);
    } catch (const std::exception& e) {
      return Verdict::reject(std::string("the invariant could not be evaluated: ") + e.what());
    } catch (...) {
      return Verdict::reject("the invariant could not be evaluated");
    }
  }

  template <class I>
  Verdict full(const Box& box) const {
    return guarded([&] {
      const View<I> view(box.state, box.shared, policy_);
      if constexpr (RowInvariant<I>) {
        for (auto row : view.template rows<I::table>())
          if (Verdict verdict = I::checkRow(view, row); !verdict.passed()) return verdict;
        return Verdict::pass();
      } else {
        return I::check(view);
      }
    });
  }

  // Given that I passed before the candidate: what the touched rows show, else the full check. So the witness and its
  // message never depend on which way was taken.
  template <class I>
  Verdict incremental(const Box& box, const Journal<Fields>& journal) const {
    const View<I> view(box.state, box.shared, policy_);
    const Touched<I, Fields> touched(box.state, journal);
    std::optional<Verdict> known;
    try {
      if constexpr (RowInvariant<I>)
        known = verdictOfTouchedRows<I>(view, touched);
      else if constexpr (DecidedByTouched<I, Fields>)
        known = I::checkTouched(view, touched);
      else if constexpr (TouchedInvariant<I, Fields>)
        known = I::stillPasses(view, touched) ? std::optional(Verdict::pass()) : std::nullopt;
    } catch (...) {
      known.reset();  // the full check reports it
    }
    return known ? *std::move(known) : full<I>(box);
  }

  // The first touched row that fails is the first of all: the others passed and are what they were.
  template <class I>
  static std::optional<Verdict> verdictOfTouchedRows(const View<I>& view, const Touched<I, Fields>& touched) {
    if (touched.scalars()) return std::nullopt;
    if constexpr (ReferringInvariant<I, Fields>)
      if (!I::othersStand(view, touched)) return std::nullopt;
    for (auto row : touched.template rows<I::table>())
      if (row.visible())
        if (Verdict verdict = I::checkRow(view, row); !verdict.passed()) return verdict;
    return Verdict::pass();
  }

  // The candidate-only ghost field kernel.fault (domains.md, 0.8): "" or why the proposal is not a lawful one.
  std::string kernelFault(Box& box, Mutator<Fields>& m, const Journal<Fields>& journal, std::string_view role,
                          const Action& action, Time at) const {
    const ProcessInfo& process = signature_.processes[action.process];
    if (process.role != role)
      return process.name + " belongs to role " + process.role + ", not to " + std::string(clip(role));
    if (at < box.shared.clock)
      return "time " + formatTime(at) + " lies before the entity's clock " + formatTime(box.shared.clock);
    std::string fault = applyAction(m, action, at);
    if (!fault.empty()) return fault;
    if (const FieldMask stray = journal.touched() & ~process.writes) {
      std::string names;
      for (const std::string& name : signature_.fieldNames(stray)) names += (names.empty() ? "" : ", ") + name;
      return process.name + " wrote outside its declared fields: " + names;
    }
    return {};
  }

  void decide(EntityState& entity, std::string_view role, const Action& action, Time at, Evaluation& out,
              bool everything) const {
    Box& box = boxOf(entity);
    Journal<Fields>& journal = scratchJournal();
    Mutator<Fields> m(box.state, journal, policy_);
    out.reset(kInvariants);
    if (std::string fault = kernelFault(box, m, journal, role, action, at); !fault.empty()) {
      journal.undo(box.state);
      out.tag = Evaluation::Tag::rejected;
      out.witness = 0;
      out.verdicts[0] = static_cast<std::uint8_t>(InvResult::reject);
      out.message = std::move(fault);
      return;
    }
    out.verdicts[0] = static_cast<std::uint8_t>(InvResult::pass);
    const Time clockBefore = box.shared.clock;
    box.shared.clock = at;
    walkCandidate(box, journal, out, everything);
    if (out.tag != Evaluation::Tag::approved) {
      journal.undo(box.state);
      box.shared.clock = clockBefore;
      return;
    }
    box.notPassing = 0;  // whatever was not passing was evaluated, and passed
    journal.appendWrites(out.writes, box.state);
    journal.clear();
  }

  void walkCandidate(const Box& box, const Journal<Fields>& journal, Evaluation& out, bool everything) const {
    const FieldMask touched = journal.touched();
    forEachInvariant([&]<class I>(std::size_t index) {
      const bool failing = box.notPassing >> index & 1;
      constexpr FieldMask footprint = maskOf<Fields, typename I::Reads>;
      if (!everything && !failing && (touched & footprint) == 0) return true;  // F8: its last verdict stands
      Verdict verdict = everything || failing ? full<I>(box) : incremental<I>(box, journal);
      out.verdicts[index + 1] = static_cast<std::uint8_t>(verdict.result());
      if (verdict.passed()) return true;
      const bool first = out.tag == Evaluation::Tag::approved;
      if (first) {
        out.tag = verdict.result() == InvResult::reject ? Evaluation::Tag::rejected : Evaluation::Tag::escalated;
        out.witness = static_cast<std::uint16_t>(index + 1);
        out.message = verdict.message();
      }
      if (out.tag == Evaluation::Tag::rejected) return false;
      out.findings.push_back(
          {static_cast<std::uint16_t>(index + 1), verdict.result(), std::move(verdict).takeMessage()});
      return true;  // F16: an escalation's whole detection vector
    });
  }

  static Status addWaivers(PublicFields& shared, const json::value& value) {
    const json::value* add = value.is_object() ? value.get_object().if_contains("add") : nullptr;
    if (add == nullptr || value.get_object().size() != 1)
      return invalid("edit.waivers: expected {\"add\":[[invariant, subject],...]}");
    std::vector<Waiver> all;
    WITAN_DO(readJson(*add, all, "edit.waivers.add"));
    all.insert(all.end(), shared.waivers.begin(), shared.waivers.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    // Every entry that adds one carries them all: they must fit a record.
    std::size_t bytes = 0;
    for (const Waiver& w : all) bytes += w.invariant.size() + w.subject.size();
    if (all.size() > kWaiversMax || bytes > kWaiverBytesMax)
      return invalid("edit.waivers: an entity has at most " + std::to_string(kWaiversMax) + " waivers of " +
                     std::to_string(kWaiverBytesMax) + " bytes in all");
    shared.waivers = std::move(all);
    return okStatus();
  }

  static void appendCommitWrites(std::string& out, Journal<Fields>& journal, const Box& box, bool waiversChanged) {
    journal.appendWrites(out, box.state);
    if (!waiversChanged) return;
    // "waivers" takes its place in key order.
    std::string merged;
    auto parsed = parseJson(out, {.bytes = 64 << 20});
    parsed.value().as_object()["waivers"] = parseJson(toJson(box.shared.waivers), {.bytes = 64 << 20}).value();
    out = canonicalJson(*parsed);
  }

  void describe() {
    signature_.domain = D::name;
    if constexpr (requires { D::title; }) signature_.title = D::title;
    forEachField<Fields>([&]<class F>() {
      std::string type = JsonCodec<typename F::Value>::typeName();
      signature_.fields.push_back(
          {std::string(F::name), F::isColumn ? "map<text, " + type + ">" : type, F::isColumn, F::lifecycle});
    });
    [&]<class... R>(RoleList<R...>) { (describeRole<R>(), ...); }(typename D::Roles{});
    if constexpr (requires { typename D::CounselorProcesses; })
      [&]<class... P>(ProcessList<P...>) { (describeProcess<P>(""), ...); }(typename D::CounselorProcesses{});
    forEachInvariant([&]<class I>(auto) {
      InvariantInfo info;
      info.id = I::id;
      info.footprint = maskOf<Fields, typename I::Reads>;
      if constexpr (requires { I::onFailure; }) info.onFailure = I::onFailure;
      info.rule = I::rule;
      info.incremental = RowInvariant<I> || TouchedInvariant<I, Fields> || DecidedByTouched<I, Fields>;
      signature_.invariants.push_back(std::move(info));
      return true;
    });
  }

  template <class R>
  void describeRole() {
    RoleInfo role;
    role.name = R::name;
    [&]<class... P>(ProcessList<P...>) { (describeProcess<P>(R::name), ...); }(typename R::Processes{});
    for (const ProcessInfo& p : signature_.processes)
      if (p.role == role.name) {
        role.footprint |= p.footprint();
        role.writes |= p.writes;
      }
    signature_.roles.push_back(std::move(role));
  }

  template <class P>
  void describeProcess(std::string_view role) {
    ProcessInfo p;
    p.name = P::name;
    p.role = role;
    p.reads = maskOf<Fields, typename P::Reads>;
    p.writes = maskOf<Fields, typename P::Writes>;
    if constexpr (Reflected<P>) {
      forEachMember<P>([&](auto member, auto) {
        p.arguments.emplace_back(std::string(member.name), JsonCodec<typename decltype(member)::Type>::typeName());
      });
      p.required = requiredMembers<P>();
      p.schema = actionJsonSchema(P::name, JsonSchemas().inlined<P>(JsonSchemas::Unknown::refused));
    }
    signature_.processes.push_back(std::move(p));
  }

  Signature signature_;
  Policy policy_;
  std::string_view scenarios_;
  Hash digest_{};
};

// The module of domain D with the policy `policy` (a JSON object; members not named keep their defaults) and, if any
// are named, other counselors than the domain's own. `scenarios` outlives it; a domain may have its own as
// D::scenarios.
template <Counselable D>
Result<std::unique_ptr<DomainModule>> makeModule(const json::object& policy = {},
                                                 std::vector<std::string> counselors = {},
                                                 std::string_view scenarios = {}) {
  typename TypedModule<D>::Policy values;
  WITAN_DO(JsonCodec<typename TypedModule<D>::Policy>::read(policy, values, "policy"));
  if constexpr (requires { values.validate(); }) WITAN_DO(values.validate());
  if (counselors.empty()) counselors = D::counselors();
  return std::unique_ptr<DomainModule>(
      std::make_unique<TypedModule<D>>(std::move(values), std::move(counselors), scenarios));
}

}  // namespace witan::kernel
