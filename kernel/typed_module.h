// TypedModule<D>: the DomainModule of a domain type. Authors write one line: makeModule<Budget>().
#pragma once

#include <memory>
#include <utility>

#include "base/capnp_codec.h"
#include "base/json_schema.h"
#include "kernel/domain.h"
#include "kernel/untyped_module.h"

namespace witan::kernel {

template <Counselable D>
class TypedModule final : public UntypedModule {
 public:
  using Fields = typename D::Fields;
  using State = typename Journal<Fields>::State;
  using Policy = typename State::Policy;
  using Processes = typename AllProcesses<typename D::Roles>::Tuple;
  static constexpr std::size_t kProcesses = std::tuple_size_v<Processes>;

  TypedModule(Policy policy, std::vector<std::string> counselors, std::string_view scenarios)
      : UntypedModule(StateCodec<Fields>::table, invariantTable(typename D::Invariants{}),
                      actionTable(std::type_identity<Processes>{})),
        policy_(std::move(policy)),
        scenarios_(scenarios) {
    describe();
    signature_.counselors = std::move(counselors);
    digest_ = sha256(signature_.canonical(policyJson()));
  }

  std::string policyJson() const override { return toJson(policy_); }
  std::string_view scenarios() const override {
    if constexpr (requires { D::scenarios; })
      return D::scenarios;
    else
      return scenarios_;
  }
  EntityPtr clone(const EntityState& entity) const override { return std::make_unique<Box>(boxOf(entity)); }
  void prefetch(const EntityState& entity) const override {
    const State& state = boxOf(entity).state;
    forEachField<Fields>([&]<class F>() {
      if constexpr (F::isColumn) {
        if constexpr (firstOfTable<F>()) (state.*F::table).prefetch();
      }
    });
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
    Status read(const json::value& from) override { return JsonCodec<P>::read(from, value, P::name, "type"); }
    Status decode(capnp::AnyStruct::Reader from) override { return readCapnp(from, value, P::name); }
    void write(std::string& out) const override { JsonCodec<P>::write(out, value, P::name); }
    std::string encode() const override { return std::string(WordWriter().message(value)); }
    void apply(void* mutator, Time at) const override { value.apply(*static_cast<Mutator<Fields>*>(mutator), at); }
    P value;
  };

  template <class... P>
  static std::span<const ProcessOps> actionTable(std::type_identity<std::tuple<P...>>) {
    static constexpr std::array<ProcessOps, sizeof...(P)> ops{ProcessOps{
        P::name, [](const void*, std::uint16_t index) -> ActionPtr { return std::make_unique<Act<P>>(index); },
        [] { return capnpSchema<P>(P::name); }}...};
    return ops;
  }
  template <class... I>
  static std::span<const InvariantOps> invariantTable(InvariantList<I...>) {
    static constexpr std::array<InvariantOps, sizeof...(I)> ops{
        InvariantOps{maskOf<Fields, typename I::Reads>, 0, full<I>, incremental<I>}...};
    return ops;
  }

  EntityPtr empty() const override { return std::make_unique<Box>(); }
  const void* stateOf(const EntityState& entity) const override { return &boxOf(entity).state; }
  const void* policyOf() const override { return &policy_; }
  // One journal per thread and domain: its vectors keep their memory between decisions.
  JournalBase& scratchJournal() const override {
    static thread_local Journal<Fields> journal;
    return journal;
  }
  void withMutator(EntityState& entity, JournalBase& journal, void (*use)(void*, void*), void* context) const override {
    Mutator<Fields> mutator(boxOf(entity).state, static_cast<Journal<Fields>&>(journal), policy_);
    use(context, &mutator);
  }
  void complete(EntityState& entity, FieldMask given, Time at) const override {
    if constexpr (requires(State & s) { D::complete(s, policy_, given, at); })
      D::complete(boxOf(entity).state, policy_, given, at);
    else
      (void)entity, (void)given, (void)at;
  }

  // To which keys a row belongs: static std::vector<std::string> D::keysOf(const State&, std::string_view key, const
  // Row&), for each kind of row that belongs to somebody (kernel/bound_slices.h).
  template <class F>
  static constexpr bool saysWhose() {
    if constexpr (F::isColumn) return requires(const State& s, std::string_view key, const typename F::Row& row) {
        D::keysOf(s, key, row);
      };
    else
      return false;
  }
  bool saysWhoseRows() const override {
    bool any = false;
    forEachField<Fields>([&]<class F>() { any = any || saysWhose<F>(); });
    return any;
  }
  bool belongs(const EntityState& entity, FieldMask column, Slot slot, std::string_view key) const override {
    const State& state = boxOf(entity).state;
    bool found = false;
    forEachField<Fields>([&]<class F>() {
      if constexpr (saysWhose<F>()) {
        if (maskOf<Fields, Footprint<F>> != column) return;
        const auto& table = state.*F::table;
        for (const std::string& one : D::keysOf(state, table.key(slot), table.row(slot))) found = found || one == key;
      }
    });
    return found;
  }

  FieldMask fieldsOfBeginning() const override {
    if constexpr (requires { typename D::FieldsOfBeginning; })
      return maskOf<Fields, typename D::FieldsOfBeginning>;
    else
      return UntypedModule::fieldsOfBeginning();
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

  template <class Visit>
  static void visit(const Action& action, Visit&& visitor) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (void)((action.process == I &&
              (visitor(static_cast<const Act<std::tuple_element_t<I, Processes>>&>(action).value), true)) ||
             ...);
    }
    (std::make_index_sequence<kProcesses>{});
  }

  template <class I>
  static View<I> viewOf(const EntityState& entity, const void* policy) {
    return {boxOf(entity).state, entity.shared, *static_cast<const Policy*>(policy)};
  }

  template <class I>
  static Verdict full(std::uint32_t, const EntityState& entity, const void* policy) {
    try {
      const View<I> view = viewOf<I>(entity, policy);
      if constexpr (RowInvariant<I>) {
        for (auto row : view.template rows<I::table>())
          if (Verdict verdict = I::checkRow(view, row); !verdict.passed()) return verdict;
        return Verdict::pass();
      } else {
        return I::check(view);
      }
    } catch (...) {
      return verdictOfException();
    }
  }

  // What the touched rows show, else the full check. So the witness and its message never depend on which way was
  // taken.
  template <class I>
  static Verdict incremental(std::uint32_t, const EntityState& entity, const JournalBase& journal, const void* policy) {
    try {
      const View<I> view = viewOf<I>(entity, policy);
      const Touched<I, Fields> touched(boxOf(entity).state, static_cast<const Journal<Fields>&>(journal));
      if constexpr (RowInvariant<I>) {
        if (auto known = verdictOfTouchedRows<I>(view, touched)) return *std::move(known);
      } else if constexpr (DecidedByTouched<I, Fields>) {
        if (auto known = I::checkTouched(view, touched)) return *std::move(known);
      } else if constexpr (TouchedInvariant<I, Fields>) {
        if (I::stillPasses(view, touched)) return Verdict::pass();
      }
    } catch (...) {
      // the full check reports it
    }
    return full<I>(0, entity, policy);
  }

  // The first touched row that fails is the first of all, if the others passed and still do.
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

  void describe() {
    signature_.domain = D::name;
    if constexpr (requires { D::title; }) signature_.title = D::title;
    forEachField<Fields>([&]<class F>() {
      std::string type = JsonCodec<typename F::Value>::typeName();
      signature_.fields.push_back({std::string(F::name), F::isColumn ? "map<text, " + type + ">" : type, F::isColumn,
                                   F::lifecycle, humanMembers<F>(), isInstances<F>()});
    });
    [&]<class... R>(RoleList<R...>) { (describeRole<R>(), ...); }(typename D::Roles{});
    if constexpr (requires { typename D::CounselorProcesses; })
      [&]<class... P>(ProcessList<P...>) { (describeProcess<P>(""), ...); }(typename D::CounselorProcesses{});
    [&]<class... I>(InvariantList<I...>) { (describeInvariant<I>(), ...); }(typename D::Invariants{});
  }

  template <class F>
  static constexpr std::uint8_t humanMembers() {
    if constexpr (isHuman<F>) {
      using Value = typename F::Value;
      constexpr auto members = Value::witanMembers();
      static_assert(Value::asTuple && std::is_same_v<decltype(memberAt<0>(members).pointer), std::string Value::*> &&
                        std::is_same_v<decltype(memberAt<1>(members).pointer), Time Value::*>,
                    "a human field holds a tuple: who, when, what the person says");
      return memberCount<Value>;
    } else {
      return 0;
    }
  }
  template <class F>
  static constexpr bool isInstances() {
    if constexpr (requires { typename D::Instances; })
      return contains<F, typename D::Instances>;
    else
      return false;
  }

  template <class I>
  void describeInvariant() {
    InvariantInfo info;
    info.id = I::id;
    info.footprint = maskOf<Fields, typename I::Reads>;
    if constexpr (requires { I::onFailure; }) info.onFailure = I::onFailure;
    info.mixed = requires { I::mixed; };
    info.rule = I::rule;
    info.incremental = RowInvariant<I> || TouchedInvariant<I, Fields> || DecidedByTouched<I, Fields>;
    signature_.invariants.push_back(std::move(info));
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

  Policy policy_;
  std::string_view scenarios_;
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
