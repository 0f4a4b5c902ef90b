#include "rules/domain/rule_module.h"

#include <algorithm>
#include <bit>

#include "base/bytes.h"
#include "base/capnp_codec.h"
#include "base/quote.h"
#include "rules/domain/rule_domain.h"
#include "rules/domain/rule_sample.h"
#include "rules/domain/value_json.h"
#include "rules/domain/versions.h"

namespace witan::rules {

using namespace kernel;

namespace {

// Rule files' actions travel as their canonical JSON.
struct JsonAction {
  std::string json;
  WITAN_MEMBERS(JsonAction, json)
};

struct Box final : EntityState {
  explicit Box(const Layout& layout) : state(layout) {}
  RuleState state;
};

struct RuleMutator {
  Box& entity;
  RuleJournal& journal;
};

const RuleState& in(const void* state) { return *static_cast<const RuleState*>(state); }

class RuleAction final : public Action {
 public:
  RuleAction(const RuleDomain& domain, std::uint16_t index)
      : Action(index), process_(domain.processes[index]), arguments_(process_.arguments.size()) {}

  Status read(const json::value& from) override {
    const json::object& object = from.get_object();
    for (const auto& member : object) {
      if (member.key() == "version" && ofVersion(member.value())) continue;
      if (member.key() != "type" && std::ranges::find(process_.arguments, std::string_view(member.key()),
                                                      &RuleArgument::name) == process_.arguments.end())
        return invalid(concat(process_.name, ": unknown argument ", inQuotes(clip(member.key()))), "known: " + known());
    }
    Arena memory;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const RuleArgument& argument = process_.arguments[i];
      const json::value* given = object.if_contains(argument.name);
      if (given == nullptr && !argument.byDefault.present())
        return invalid(concat(process_.name, ": ", inQuotes(argument.name), " is missing"));
      arguments_[i] = argument.byDefault;
      if (given == nullptr) continue;
      WITAN_TRY(value, readValue(memory, *given, *argument.type, concat(process_.name, ".", argument.name)));
      arguments_[i] = Stored(value);
    }
    return okStatus();
  }

  Status decode(capnp::AnyStruct::Reader from) override {
    JsonAction action;
    WITAN_DO(readCapnp(from, action, process_.name));
    WITAN_TRY(value, parseJson(action.json));
    if (!value.is_object()) return wrongJsonType(process_.name, "an object", value);
    return read(value);
  }

  void write(std::string& out) const override {
    std::vector<std::pair<std::string_view, std::size_t>> members{{"type", arguments_.size()}};
    for (std::size_t i = 0; i < arguments_.size(); ++i) members.emplace_back(process_.arguments[i].name, i);
    std::ranges::sort(members);
    char before = '{';
    for (const auto& [name, i] : members) {
      out += before;
      before = ',';
      appendJsonString(out, name);
      out += ':';
      if (i == arguments_.size())
        appendJsonString(out, process_.name);
      else
        writeValue(out, arguments_[i].value(), *process_.arguments[i].type);
    }
    out += '}';
  }

  std::string encode() const override {
    JsonAction action;
    write(action.json);
    return std::string(WordWriter().message(action));
  }

  void apply(void* mutator, Time at) const override {
    auto& [entity, journal] = *static_cast<RuleMutator*>(mutator);
    const ScratchArena memory;
    Machine machine(*body_, *memory, &entity.state, &entity.shared, at);
    machine.visible = process_.footprint;
    for (std::size_t i = 0; i < arguments_.size(); ++i) machine.setLocal(i, arguments_[i].value());
    Ruling ruling = machine.run(&entity.state, &journal);
    if (ruling.result != InvResult::pass) throw Fault{std::move(ruling.message)};
  }

 private:
  // UpgradeRules, as it was under a version between the first and this one.
  bool ofVersion(const json::value& version) {
    const auto at = process_.earlier.find(version.is_int64() ? version.get_int64() : 0);
    if (at != process_.earlier.end()) body_ = &at->second;
    return at != process_.earlier.end();
  }

  std::string known() const {
    std::string all = "{";
    for (const RuleArgument& argument : process_.arguments) all += (all.size() > 1 ? ", " : "") + argument.name;
    return all + "}";
  }

  const RuleProcess& process_;
  const Program* body_ = &process_.body;
  std::vector<Stored> arguments_;
};

// ---- fields

const TableKeys* keysOf(std::uint32_t field, const void* state) {
  return &in(state).tables[in(state).layout->fields[field].table];
}
const Value& cellOf(std::uint32_t field, const void* state, Slot slot) {
  const FieldDecl& decl = in(state).layout->fields[field];
  return (decl.isColumn ? in(state).tables[decl.table].cell(slot, decl.column) : in(state).scalars[field]).value();
}
bool hasCell(std::uint32_t field, const void* state, Slot slot) { return !cellOf(field, state, slot).is(Tag::absent); }
void writeField(std::uint32_t field, const void* state, Slot slot, std::string& out) {
  writeValue(out, cellOf(field, state, slot), *in(state).layout->fields[field].type);
}
void writtenSlots(std::uint32_t field, const JournalBase& journal, Slots& slots) {
  for (const RuleJournal::Write& write : static_cast<const RuleJournal&>(journal).writes())
    if (write.field == field) slots.push_back(write.slot);
}

Status setField(std::uint32_t field, void* mutator, std::string_view key, const json::value& value,
                const std::string& where) {
  auto& [entity, journal] = *static_cast<RuleMutator*>(mutator);
  RuleState& state = entity.state;
  const FieldDecl& decl = state.layout->fields[field];
  if (decl.isColumn && value.is_null()) {
    const Slot slot = state.tables[decl.table].find(key);
    if (slot != kNoSlot) journal.setCell(state, field, slot, Stored());
    return okStatus();
  }
  Arena memory;
  WITAN_TRY(made, readValue(memory, value, *decl.type, where));
  if (decl.isColumn)
    journal.setCell(state, field, journal.row(state, decl.table, key), Stored(made, *decl.type));
  else
    journal.setScalar(state, field, Stored(made, *decl.type));
  return okStatus();
}

Status appendFacts(std::uint32_t field, void* mutator, const json::value& facts, const std::string& where) {
  const RuleState& state = static_cast<RuleMutator*>(mutator)->entity.state;
  if (!facts.is_array()) return wrongJsonType(where, "a list", facts);
  for (std::size_t i = 0; i < facts.get_array().size(); ++i)
    WITAN_DO(setField(field, mutator, nextLogKey(state.tables[state.layout->fields[field].table]), facts.get_array()[i],
                      concat(where, "[", i, "]")));
  return okStatus();
}

// ---- invariants

Verdict verdictOf(Ruling&& ruling) {
  if (ruling.result == InvResult::notEvaluated) throw InvariantFault{std::move(ruling.message)};
  if (ruling.result == InvResult::reject) return Verdict::reject(std::move(ruling.message));
  if (ruling.result == InvResult::escalate) return Verdict::escalate(std::move(ruling.message));
  return Verdict::pass();
}

Value rowValue(const RuleState& state, std::uint32_t table, Slot slot) {
  if (state.layout->tables[table].log) return state.tables[table].cell(slot, 0).value();
  Value row;
  row.tag = Tag::row;
  row.n = table;
  row.i = slot;
  return row;
}

bool sees(const RuleState& state, std::uint32_t table, Slot slot, FieldMask mask) {
  return (state.tables[table].present(slot) & state.layout->tables[table].mask & mask) != 0;
}

// The verdict on the first of the rows that does not pass.
template <class Rows>
Verdict firstFailing(const RulePart& part, const Box& box, const Rows& rows) {
  for (Slot slot : rows) {
    if (!sees(box.state, *part.each, slot, part.check.reads)) continue;
    const ScratchArena memory;
    Machine machine(part.check, *memory, &box.state, &box.shared, box.shared.clock);
    machine.visible = part.check.reads;
    machine.setLocal(0, rowValue(box.state, *part.each, slot));
    if (Verdict verdict = verdictOf(machine.run()); !verdict.passed()) return verdict;
  }
  return Verdict::pass();
}

Verdict fullVerdict(const RulePart& part, const Box& box) {
  if (part.each) return firstFailing(part, box, box.state.tables[*part.each].byKey());
  const ScratchArena memory;
  Machine machine(part.check, *memory, &box.state, &box.shared, box.shared.clock);
  machine.visible = part.check.reads;
  return verdictOf(machine.run());
}

// Those of the changed rows that the guard lets pass; nothing: it cannot tell.
std::optional<Slots> guarded(const RulePart& part, const RulePart::Others& others, const Box& box,
                             const RuleJournal& journal, const Slots& changed) {
  if (!others.guard) return changed;
  const ScratchArena memory;
  Machine machine(*others.guard, *memory, &box.state, &box.shared, box.shared.clock);
  machine.visible = part.check.reads | others.guard->reads;
  machine.observe(journal);
  Slots passing;
  for (Slot other : changed) {
    machine.setLocal(0, rowValue(box.state, others.table, other));
    const Value passes = machine.evaluate(others.guard->root);
    if (!passes.is(Tag::boolean)) return std::nullopt;
    if (passes.b) passing.push_back(other);
  }
  return passing;
}

// Adds the rows whose verdict a changed row of another may change. False: it cannot tell.
bool addAffected(const RulePart& part, const RulePart::Others& others, const Box& box, const RuleJournal& journal,
                 const Slots& changed, Slots& rows) {
  const auto passing = guarded(part, others, box, journal, changed);
  if (!passing) return false;
  if (passing->empty()) return true;
  const ScratchArena memory;
  Machine machine(others.affects, *memory, &box.state, &box.shared, box.shared.clock);
  machine.visible = part.check.reads | others.affects.reads;
  machine.observe(journal);
  for (Slot other : *passing) {
    machine.setLocal(1, rowValue(box.state, others.table, other));
    const auto ask = [&](Slot slot) {
      if (*part.each == others.table && other == slot) return true;
      machine.setLocal(0, rowValue(box.state, *part.each, slot));
      const Value affects = machine.evaluate(others.affects.root);
      if (affects.isTrue()) rows.push_back(slot);
      return affects.is(Tag::boolean);
    };
    Machine::Rows some;
    const bool told = machine.narrowed(others.affects.rootScan, some)
                          ? std::ranges::all_of(some, ask)
                          : std::ranges::all_of(box.state.tables[*part.each].byKey(), ask);
    if (!told) return false;
  }
  return true;
}

// The rows whose verdict the candidate may have changed; nothing: any.
std::optional<Slots> rowsToCheck(const RulePart& part, const Box& box, const RuleJournal& journal) {
  if (!part.each) return std::nullopt;
  const Layout& layout = box.state.layout[0];
  Slots rows;
  std::vector<Slots> changed(layout.tables.size());
  for (const RuleJournal::Write& write : journal.writes()) {
    if ((part.check.reads >> write.field & 1) == 0) continue;
    const FieldDecl& field = layout.fields[write.field];
    if (!field.isColumn) return std::nullopt;
    changed[field.table].push_back(write.slot);
  }
  for (std::uint32_t table = 0; table < changed.size(); ++table) {
    if (changed[table].empty()) continue;
    box.state.tables[table].sortUnique(changed[table]);
    if (table == *part.each) {
      rows.insert(rows.end(), changed[table].begin(), changed[table].end());
      if ((part.check.lookups >> table & 1) == 0) continue;
    }
    bool known = false;
    for (const RulePart::Others& others : part.others) {
      if (others.table != table) continue;
      if (!addAffected(part, others, box, journal, changed[table], rows)) return std::nullopt;
      known = true;
    }
    if (!known) return std::nullopt;
  }
  box.state.tables[*part.each].sortUnique(rows);
  return rows;
}

class RuleModule final : public UntypedModule {
 public:
  struct Tables {
    std::vector<FieldOps> fields;
    std::vector<InvariantOps> invariants;
    std::vector<ProcessOps> processes;
  };

  RuleModule(std::shared_ptr<const RuleDomain> domain, std::unique_ptr<Tables> tables,
             std::vector<std::string> counselors)
      : UntypedModule(tables->fields, tables->invariants, tables->processes),
        domain_(std::move(domain)),
        tables_(std::move(tables)),
        policy_(canonicalJson(domain_->policy)) {
    signature_ = domain_->signature;
    if (!counselors.empty()) signature_.counselors = std::move(counselors);
    const Hash rules = sha256(domain_->text);
    digest_ = sha256(concat(signature_.canonical(policy_), "\nrules ", toHex(rules)));
  }

  const RuleDomain& domain() const { return *domain_; }
  std::string policyJson() const override { return policy_; }
  std::string_view scenarios() const override { return domain_->scenarios; }
  std::string_view ruleText() const override { return domain_->text; }
  EntityPtr clone(const EntityState& entity) const override {
    return std::make_unique<Box>(static_cast<const Box&>(entity));
  }
  void prefetch(const EntityState&) const override {}

  std::string actionSchema() const override {
    std::string out = actionSchemaHead(signature_.domain);
    for (std::size_t i = 0; i < domain_->processes.size(); ++i)
      out += concat("\n# Role ", signature_.processes[i].role, ". The action as canonical JSON.\nstruct ",
                    domain_->processes[i].name, " {\n  json @0 :Text;\n}\n");
    return out;
  }

  ActionPtr sample(const EntityState& entity, Random& random, Time at) const override {
    const std::string text = sampleAction(*domain_, static_cast<const Box&>(entity).state, random, at);
    auto action = parseAction(parseJson(text).value());
    return action.ok() ? *std::move(action) : nullptr;
  }
  std::string sampleInit(Random&, Time) const override { return "{}"; }
  std::string sampleEdit(const EntityState& entity, const Action&, std::string_view counselor, Random& random,
                         Time at) const override {
    return sampleRuleEdit(*domain_, static_cast<const Box&>(entity).state, counselor, random, at);
  }
  // The version of the rules that the entity is of.
  std::int64_t versionOf(const EntityState& entity) const {
    return domain_->versionField ? static_cast<const Box&>(entity).state.scalars[*domain_->versionField].value().i : 1;
  }
  FieldMask laterFields(const EntityState& entity) const override {
    FieldMask later = 0;
    const std::int64_t version = versionOf(entity);
    for (std::size_t i = 0; i < domain_->layout.fields.size(); ++i) {
      const auto since = domain_->since.find(domain_->layout.fields[i].name);
      const bool cameLater = since != domain_->since.end() && since->second > version;
      if (cameLater || (i == domain_->versionField && version == 1)) later |= FieldMask{1} << i;
    }
    return later;
  }
  Result<EntityPtr> createAs(const EntityState& begun, const json::object& fields, Time at) const override {
    const FieldMask version = domain_->versionField ? FieldMask{1} << *domain_->versionField : 0;
    WITAN_TRY(made, begin(fields, at, laterFields(begun) | version));
    if (version != 0)
      static_cast<Box&>(*made).state.scalars[*domain_->versionField] =
          static_cast<const Box&>(begun).state.scalars[*domain_->versionField];
    return std::move(made);
  }
  std::string generate(std::size_t, std::size_t, std::uint64_t) const override { return {}; }

  // Of one domain, for UntypedModule.
  static std::unique_ptr<Tables> tablesOf(const RuleDomain& domain) {
    auto tables = std::make_unique<Tables>();
    for (std::uint32_t i = 0; i < domain.layout.fields.size(); ++i) {
      const FieldDecl& field = domain.layout.fields[i];
      FieldOps ops{.name = field.name,
                   .bit = FieldMask{1} << i,
                   .index = i,
                   .has = hasCell,
                   .write = writeField,
                   .set = setField};
      if (field.isColumn) {
        ops.keys = keysOf;
        ops.written = writtenSlots;
      }
      if (field.isLog) ops.append = appendFacts;
      tables->fields.push_back(ops);
    }
    std::ranges::sort(tables->fields, {}, &FieldOps::name);
    for (std::uint32_t i = 0; i < domain.invariants.size(); ++i)
      tables->invariants.push_back({domain.invariants[i].footprint, i, full, incremental});
    for (const RuleProcess& process : domain.processes) tables->processes.push_back({process.name, make, nullptr});
    return tables;
  }

 private:
  // It is the file's, whatever a beginning says.
  FieldMask fieldsOfBeginning() const override {
    return domain_->versionField ? ~(FieldMask{1} << *domain_->versionField) : ~FieldMask{0};
  }
  // `policy` is the module.
  static const RuleDomain& of(const void* policy) { return static_cast<const RuleModule*>(policy)->domain(); }
  static ActionPtr make(const void* policy, std::uint16_t index) {
    return std::make_unique<RuleAction>(of(policy), index);
  }
  static Verdict full(std::uint32_t index, const EntityState& entity, const void* policy) {
    for (const RulePart& part : of(policy).invariants[index].parts)
      if (Verdict verdict = fullVerdict(part, static_cast<const Box&>(entity)); !verdict.passed()) return verdict;
    return Verdict::pass();
  }
  static Verdict incremental(std::uint32_t index, const EntityState& entity, const JournalBase& journal,
                             const void* policy) {
    const Box& box = static_cast<const Box&>(entity);
    for (const RulePart& part : of(policy).invariants[index].parts) {
      if ((journal.touched() & part.check.reads) == 0) continue;  // its last verdict stands
      const auto rows = rowsToCheck(part, box, static_cast<const RuleJournal&>(journal));
      if (Verdict verdict = rows ? firstFailing(part, box, *rows) : fullVerdict(part, box); !verdict.passed())
        return verdict;
    }
    return Verdict::pass();
  }

  EntityPtr empty() const override {
    auto box = std::make_unique<Box>(domain_->layout);
    for (std::size_t i = 0; i < domain_->layout.fields.size(); ++i)
      if (!domain_->layout.fields[i].isColumn) box->state.scalars[i] = domain_->initial[i];
    return box;
  }
  const void* stateOf(const EntityState& entity) const override { return &static_cast<const Box&>(entity).state; }
  const void* policyOf() const override { return this; }
  // One per thread for all of them: it is empty between calls.
  JournalBase& scratchJournal() const override {
    static thread_local RuleJournal journal;
    return journal;
  }
  void withMutator(EntityState& entity, JournalBase& journal, void (*use)(void*, void*), void* context) const override {
    RuleMutator mutator{static_cast<Box&>(entity), static_cast<RuleJournal&>(journal)};
    use(context, &mutator);
  }

  bool saysWhoseRows() const override {
    return std::ranges::any_of(domain_->belongs, [](const auto& program) { return program.has_value(); });
  }
  // A row whose keys cannot be told, because a cell is empty for example, belongs to nobody.
  bool belongs(const EntityState& entity, FieldMask column, Slot slot, std::string_view key) const override {
    const std::uint32_t table = domain_->layout.fields[static_cast<std::size_t>(std::countr_zero(column))].table;
    if (!domain_->belongs[table]) return false;
    const Program& program = *domain_->belongs[table];
    const Box& box = static_cast<const Box&>(entity);
    const ScratchArena memory;
    Machine machine(program, *memory, &box.state, &box.shared, box.shared.clock);
    machine.visible = ~FieldMask{0};
    machine.setLocal(0, rowValue(box.state, table, slot));
    const Value keys = machine.evaluate(program.root);
    if (!keys.is(Tag::list)) return false;
    return std::ranges::any_of(keys.elements(),
                               [&](const Value& one) { return one.is(Tag::text) && one.str() == key; });
  }

  // Defaults in the order of the file: a later one may read an earlier field.
  void complete(EntityState& entity, FieldMask given, Time at) const override {
    Box& box = static_cast<Box&>(entity);
    for (std::size_t i = 0; i < domain_->defaults.size(); ++i) {
      if (!domain_->defaults[i] || (given >> i & 1) != 0) continue;
      const Program& program = *domain_->defaults[i];
      const ScratchArena memory;
      Machine machine(program, *memory, &box.state, &box.shared, at);
      machine.visible = ~FieldMask{0};
      const Value value = machine.evaluate(program.root);
      const FieldDecl& field = domain_->layout.fields[i];
      const std::string why = value.failed() ? machine.explain(value) : unfit(value, *field.type, field.name);
      if (!why.empty()) throw Fault{concat("the default of ", field.name, ": ", why)};
      box.state.scalars[i] = Stored(value, *field.type);
    }
  }

  std::shared_ptr<const RuleDomain> domain_;
  std::unique_ptr<Tables> tables_;
  std::string policy_;
};

}  // namespace

std::int64_t versionOf(const DomainModule& module) {
  const auto* rules = dynamic_cast<const RuleModule*>(&module);
  return rules == nullptr ? 1 : rules->domain().version;
}
std::int64_t versionOf(const DomainModule& module, const EntityState& entity) {
  const auto* rules = dynamic_cast<const RuleModule*>(&module);
  return rules == nullptr ? 1 : rules->versionOf(entity);
}

Result<std::unique_ptr<DomainModule>> makeRuleModule(std::string text, const std::string& name,
                                                     const json::object& policy, std::vector<std::string> counselors) {
  WITAN_TRY(domain, readRuleDomain(std::move(text), name, policy));
  auto tables = RuleModule::tablesOf(*domain);
  return std::unique_ptr<DomainModule>(std::make_unique<RuleModule>(domain, std::move(tables), std::move(counselors)));
}

}  // namespace witan::rules
