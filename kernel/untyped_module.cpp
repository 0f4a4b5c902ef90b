#include "kernel/untyped_module.h"

#include <algorithm>
#include <set>

#include "base/string_util.h"
#include "kernel/record/entry.h"

namespace witan::kernel {

namespace {

constexpr JsonLimits kCommitLimits{.bytes = 64 << 20, .depth = 64};
constexpr std::size_t kInstancesMax = 4096;  // an escalation's entry names them; beyond that the entity freezes

Status addWaivers(PublicFields& shared, const json::value& value) {
  const json::value* add = value.is_object() ? value.get_object().if_contains("add") : nullptr;
  if (add == nullptr || value.get_object().size() != 1)
    return invalid("edit.waivers: expected {\"add\":[[invariant, subject],...]}");
  std::vector<Waiver> all;
  WITAN_DO(readJson(*add, all, "edit.waivers.add"));
  all.insert(all.end(), shared.waivers.begin(), shared.waivers.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  // Every entry that adds one carries them all: they must fit a record.
  std::size_t bytes = 0;
  for (const Waiver& w : all) bytes += w.invariant.size() + w.subject.size();
  if (all.size() > kWaiversMax || bytes > kWaiverBytesMax)
    return invalid(
        concat("edit.waivers: an entity has at most ", kWaiversMax, " waivers of ", kWaiverBytesMax, " bytes in all"));
  shared.waivers = std::move(all);
  return okStatus();
}

// What a cell of a human field holds, signed: [who, when, what the person says ...]. Given is all of it, in which the
// kernel replaces the time and the person must be the counselor or left out; or what the person says alone.
Result<json::value> signedValue(const FieldInfo& field, const json::value& given, std::string_view counselor, Time at,
                                const std::string& where) {
  const std::size_t said = field.human - 2u;
  json::array out{counselor, formatTime(at)};
  const auto isCounselor = [&](const json::value& who) {
    return who.is_null() || (who.is_string() && (who.get_string().empty() || who.get_string() == counselor));
  };
  const json::array* all = given.if_array();
  if (all != nullptr ? all->size() == field.human : said == 0) {
    if (!isCounselor(all != nullptr ? (*all)[0] : given))
      return invalid(concat(where, ": names another person than \"", counselor, "\", who decides"),
                     "leave the person and the time out: the kernel writes them");
    if (all != nullptr) out.insert(out.end(), all->begin() + 2, all->end());
  } else if (all != nullptr && all->size() == said) {
    out.insert(out.end(), all->begin(), all->end());
  } else if (all == nullptr && said == 1) {
    out.push_back(given);
  } else {
    return invalid(concat(where, ": expected ", said, " values, or ", field.human, " with the person and the time"));
  }
  return json::value(std::move(out));
}

Result<json::value> signedCells(const FieldInfo& field, const json::value& cells, std::string_view counselor, Time at) {
  const std::string where = "edit." + field.name;
  if (!cells.is_object()) return wrongJsonType(where, "an object of key to value", cells);
  json::object out;
  for (const auto& [key, value] : cells.get_object()) {
    if (value.is_null()) {
      out[key] = nullptr;
      continue;
    }
    WITAN_TRY(made, signedValue(field, value, counselor, at, concat(where, ".", clip(key))));
    out[key] = std::move(made);
  }
  return json::value(std::move(out));
}

// The texts within.
void addTexts(const json::value& value, std::vector<std::string>& out) {
  if (value.is_string()) out.emplace_back(value.get_string());
  if (value.is_array())
    for (const json::value& one : value.get_array()) addTexts(one, out);
  if (value.is_object())
    for (const auto& [key, one] : value.get_object()) addTexts(one, out);
}

// The names that are found, and those in the rows of that name, and so on.
class Reach {
 public:
  Reach(FieldTable fields, const Signature& signature) : fields_(fields), signature_(signature) {}

  void add(std::string name) { open_.push_back(std::move(name)); }
  void follow(const void* state) {
    for (const std::string& name : seen_) open_.push_back(name);
    seen_.clear();
    while (!open_.empty()) {
      const std::string name = std::move(open_.back());
      open_.pop_back();
      if (name.size() <= kKeyMax && seen_.insert(name).second) look(state, name);
    }
  }
  void into(Touch& touch) const {
    touch.rows.assign(rows_.begin(), rows_.end());
    touch.instances.assign(instances_.begin(), instances_.end());
  }

 private:
  void look(const void* state, const std::string& name) {
    for (const FieldOps& field : fields_) {
      if (field.keys == nullptr || field.append != nullptr) continue;
      const Slot slot = field.keys(field.index, state)->find(name);
      if (slot == kNoSlot || !field.has(field.index, state, slot)) continue;
      rows_.insert(name);
      std::string text;
      field.write(field.index, state, slot, text);
      addTexts(parseJson(text, kCommitLimits).value(), open_);
      const auto info = std::ranges::find(signature_.fields, field.name, &FieldInfo::name);
      if (info != signature_.fields.end() && info->instances) instances_.insert(name);
    }
  }

  FieldTable fields_;
  const Signature& signature_;
  std::vector<std::string> open_;
  std::set<std::string> seen_, rows_, instances_;
};

// A message is read by people, and the detection vector of one entry holds up to 65.
std::string readable(std::string message) {
  constexpr std::size_t kMessageMax = 4096;
  if (message.size() > kMessageMax) message = concat(clip(message, kMessageMax), "...");
  return message;
}

void rejectByKernel(std::string message, Evaluation& out) {
  out.tag = Evaluation::Tag::rejected;
  out.witness = 0;
  out.verdicts[0] = static_cast<std::uint8_t>(InvResult::reject);
  out.message = readable(std::move(message));
}

}  // namespace

std::vector<std::string> textsIn(const Action& action) {
  std::string text;
  action.write(text);
  std::vector<std::string> texts;
  addTexts(parseJson(text, kCommitLimits).value(), texts);
  return texts;
}

Verdict verdictOfException() {
  const std::string what = "the invariant could not be evaluated";
  try {
    throw;
  } catch (const Fault& fault) {
    return Verdict::reject(what + ": " + fault.message);
  } catch (const std::exception& e) {
    return Verdict::reject(what + ": " + e.what());
  } catch (...) {
    return Verdict::reject(what);
  }
}

// ---- entities

Result<EntityPtr> UntypedModule::create(const json::object& fields, Time at) const { return begin(fields, at, 0); }

Result<EntityPtr> UntypedModule::begin(const json::object& fields, Time at, FieldMask left) const {
  EntityPtr entity = empty();
  JournalBase& journal = scratchJournal();
  FieldMask given = left;
  Status status = okStatus();
  mutate(*entity, journal, [&](void* mutator) {
    try {
      for (const auto& [name, value] : fields) {
        const auto mask = setField(fields_, mutator, name, value, "init");
        if (!mask) {
          status = mask.error();
          return;
        }
        if ((*mask & (left | ~fieldsOfBeginning())) != 0) {
          status = invalid(concat("init.", name, ": no beginning sets it"));
          return;
        }
        if ((*mask & humanFields()) != 0) {
          status = invalid(concat("init.", name, ": only a counselor's edit fills it"));
          return;
        }
        given |= *mask;
      }
    } catch (const Fault& fault) {
      status = invalid("init: " + fault.message);
    }
  });
  journal.clear();
  if (!status.ok()) return status.error();
  entity->shared.clock = at;
  try {
    complete(*entity, given, at);
  } catch (const Fault& fault) {
    return invalid("init: " + fault.message);
  }
  const std::vector<Verdict> verdicts = walk(*entity);
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    if (!verdicts[i].passed())
      return invalid("the initial state violates " + signature_.invariants[i].id + " (" + verdicts[i].message() + ")",
                     "every history starts from a state that keeps all invariants");
  return entity;
}

// A field, or what belongs to every entity.
Status UntypedModule::setPublicOrField(EntityState& entity, void* mutator, std::string_view name,
                                       const json::value& value) const {
  if (name == "waivers") return readJson(value, entity.shared.waivers, "waivers");
  if (name == "clock") return readJson(value, entity.shared.clock, "clock");
  try {
    WITAN_DO(setField(fields_, mutator, name, value, "writes"));
  } catch (const Fault& fault) {
    return invalid(concat("writes.", name, ": ", fault.message));
  }
  return okStatus();
}

Status UntypedModule::applyWrites(EntityState& entity, const json::object& writes) const {
  JournalBase& journal = scratchJournal();
  Status status = okStatus();
  mutate(entity, journal, [&](void* mutator) {
    for (const auto& [name, value] : writes)
      if (status.ok()) status = setPublicOrField(entity, mutator, name, value);
  });
  if (status.ok())
    journal.clear();
  else
    journal.undoIn(stateOf(entity));
  return status;
}

void UntypedModule::writeState(std::string& out, const EntityState& entity, FieldMask mask) const {
  kernel::writeState(fields_, mask, stateOf(entity), entity.shared, out);
}

Result<EntityPtr> UntypedModule::readState(const json::object& state) const {
  EntityPtr entity = empty();
  WITAN_DO(applyWrites(*entity, state));
  const std::vector<Verdict> verdicts = walk(*entity);
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    if (!verdicts[i].passed()) entity->notPassing |= std::uint64_t{1} << i;
  return entity;
}

std::vector<Verdict> UntypedModule::walk(const EntityState& entity) const {
  std::vector<Verdict> verdicts;
  verdicts.reserve(invariants_.size());
  for (const InvariantOps& invariant : invariants_) verdicts.push_back(full(invariant, entity));
  return verdicts;
}

// Outside of a decision a fault counts as a failure of the invariant.
Verdict UntypedModule::full(const InvariantOps& invariant, const EntityState& entity) const {
  try {
    return invariant.full(invariant.index, entity, policyOf());
  } catch (InvariantFault& fault) {
    return Verdict::reject(std::move(fault.message));
  }
}

// ---- actions

std::string UntypedModule::actionNames() const {
  std::vector<std::string> names;
  for (const ProcessOps& process : processes_) names.emplace_back(process.name);
  return joined(names);
}

Result<ActionPtr> UntypedModule::makeAction(std::string_view type) const {
  for (std::size_t i = 0; i < processes_.size(); ++i)
    if (processes_[i].name == type) return processes_[i].make(policyOf(), static_cast<std::uint16_t>(i));
  return invalid(concat("unknown action \"", clip(type), "\""), "known types: " + actionNames());
}

Result<ActionPtr> UntypedModule::parseAction(const json::value& value) const {
  if (!value.is_object()) return wrongJsonType("action", "an object", value);
  const json::value* type = value.get_object().if_contains("type");
  if (type == nullptr || !type->is_string())
    return invalid("action: \"type\" is missing", "known types: " + actionNames());
  WITAN_TRY(action, makeAction(type->get_string()));
  WITAN_DO(action->read(value));
  return std::move(action);
}

Result<ActionPtr> UntypedModule::decodeAction(std::string_view type, capnp::AnyStruct::Reader from) const {
  WITAN_TRY(action, makeAction(type));
  WITAN_DO(action->decode(from));
  return std::move(action);
}

std::string UntypedModule::actionSchema() const {
  std::string out = actionSchemaHead(signature_.domain);
  for (std::size_t i = 0; i < processes_.size(); ++i)
    out += "\n# Role " + signature_.processes[i].role + ".\n" + processes_[i].schema();
  return out;
}

// Returns the fault, or "".
std::string UntypedModule::applyAction(EntityState& entity, JournalBase& journal, const Action& action, Time at) const {
  try {
    mutate(entity, journal, [&](void* mutator) { action.apply(mutator, at); });
  } catch (const Fault& fault) {
    return fault.message.empty() ? "the mutation faulted" : fault.message;
  } catch (const std::exception& e) {
    return concat("the mutation threw: ", e.what());
  } catch (...) {
    return "the mutation threw";
  }
  return {};
}

// ---- decisions

// The candidate-only ghost field kernel.fault (domains.md, 0.8): "" or why the proposal is not a lawful one.
std::string UntypedModule::kernelFault(EntityState& entity, JournalBase& journal, std::string_view role,
                                       const Action& action, Time at) const {
  const ProcessInfo& process = signature_.processes[action.process];
  if (process.role != role) return concat(process.name, " belongs to role ", process.role, ", not to ", clip(role));
  if (at < entity.shared.clock)
    return "time " + formatTime(at) + " lies before the entity's clock " + formatTime(entity.shared.clock);
  std::string fault = applyAction(entity, journal, action, at);
  if (!fault.empty()) return fault;
  if (const FieldMask stray = journal.touched() & ~process.writes)
    return process.name + " wrote outside its declared fields: " + joined(signature_.fieldNames(stray));
  return {};
}

Touch UntypedModule::touch(const EntityState& entity, const Action& action, Time at) const {
  Touch touch;
  if (!signature_.freezesByKey()) return touch;
  auto& scratch = const_cast<EntityState&>(entity);  // it is as before when this returns
  Reach reach(fields_, signature_);
  for (std::string& name : textsIn(action)) reach.add(std::move(name));
  reach.follow(stateOf(entity));
  JournalBase& journal = scratchJournal();
  bool scalars = false;
  if (applyAction(scratch, journal, action, at).empty()) {
    for (const FieldOps& field : fields_) {
      if ((journal.touched() & field.bit) == 0 || field.append != nullptr) continue;
      scalars = scalars || field.keys == nullptr;
      if (field.keys == nullptr) continue;
      Slots slots;
      field.written(field.index, journal, slots);
      for (const Slot slot : slots) touch.written.push_back(field.keys(field.index, stateOf(entity))->key(slot));
    }
    for (const std::string& key : touch.written) reach.add(key);
    reach.follow(stateOf(entity));
  }
  journal.undoIn(stateOf(scratch));
  reach.into(touch);
  std::ranges::sort(touch.written);
  touch.written.erase(std::unique(touch.written.begin(), touch.written.end()), touch.written.end());
  if (scalars || touch.instances.size() > kInstancesMax) touch.instances.clear();
  return touch;
}

void UntypedModule::decide(EntityState& entity, std::string_view role, const Action& action, Time at, Evaluation& out,
                           bool everything) const {
  JournalBase& journal = scratchJournal();
  out.reset(invariants_.size());
  if (std::string fault = kernelFault(entity, journal, role, action, at); !fault.empty()) {
    journal.undoIn(stateOf(entity));
    return rejectByKernel(std::move(fault), out);
  }
  out.verdicts[0] = static_cast<std::uint8_t>(InvResult::pass);
  const Time clockBefore = entity.shared.clock;
  entity.shared.clock = at;
  walkCandidate(entity, journal, out, everything);
  if (out.tag == Evaluation::Tag::approved) {
    appendWrites(fields_, journal, stateOf(entity), out.writes);
    if (std::string excess = excessOf(out.writes, journal, stateOf(entity)); !excess.empty()) {
      rejectByKernel(std::move(excess), out);
      out.writes.clear();
    }
  }
  if (out.tag != Evaluation::Tag::approved) {
    journal.undoIn(stateOf(entity));
    entity.shared.clock = clockBefore;
    return;
  }
  entity.notPassing = 0;  // whatever was not passing was evaluated, and passed
  journal.clear();
}

// Why no record can hold the write set: the field that takes most of it. "": one can.
std::string UntypedModule::excessOf(const std::string& writes, const JournalBase& journal, const void* state) const {
  if (writes.size() <= kRecordTextMax) return {};
  std::pair<std::size_t, std::string_view> most;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    std::string part;
    appendWrites(fields_.subspan(i, 1), journal, state, part);
    most = std::max(most, std::pair(part.size(), std::string_view(fields_[i].name)));
  }
  return concat(most.second, " takes ", most.first, " bytes of a write set of ", writes.size(), ": a record holds ",
                kRecordTextMax);
}

void UntypedModule::walkCandidate(const EntityState& entity, const JournalBase& journal, Evaluation& out,
                                  bool everything) const {
  const FieldMask touched = journal.touched();
  for (std::size_t i = 0; i < invariants_.size(); ++i) {
    const InvariantOps& invariant = invariants_[i];
    const bool failing = entity.notPassing >> i & 1;
    if (!everything && !failing && (touched & invariant.footprint) == 0) continue;  // F8: its last verdict stands
    Verdict verdict;
    try {
      verdict = everything || failing ? invariant.full(invariant.index, entity, policyOf())
                                      : invariant.incremental(invariant.index, entity, journal, policyOf());
    } catch (InvariantFault& fault) {
      if (out.tag == Evaluation::Tag::approved) return rejectByKernel(std::move(fault.message), out);
      verdict = Verdict::reject(std::move(fault.message));
    }
    out.verdicts[i + 1] = static_cast<std::uint8_t>(verdict.result());
    if (verdict.passed()) continue;
    const auto index = static_cast<std::uint16_t>(i + 1);
    if (out.tag == Evaluation::Tag::approved) {
      out.tag = verdict.result() == InvResult::reject ? Evaluation::Tag::rejected : Evaluation::Tag::escalated;
      out.witness = index;
      out.message = readable(verdict.message());
    }
    if (out.tag == Evaluation::Tag::rejected) return;
    // F16: an escalation's whole detection vector.
    out.findings.push_back({index, verdict.result(), readable(std::move(verdict).takeMessage())});
  }
}

FieldMask UntypedModule::humanFields() const {
  FieldMask mask = 0;
  for (std::size_t i = 0; i < signature_.fields.size(); ++i)
    if (signature_.fields[i].human != 0) mask |= FieldMask{1} << i;
  return mask;
}

Status UntypedModule::edit(EntityState& entity, void* mutator, const json::object& edit, std::string_view counselor,
                           Time at, bool& waiversChanged) const {
  for (const auto& [name, value] : edit) {
    if (name == "waivers") {
      WITAN_DO(addWaivers(entity.shared, value));
      waiversChanged = true;
      continue;
    }
    if (name == "clock" || name == "policy")
      return invalid(concat("edit.", name, ": belongs to the kernel and can't be edited"));
    const auto field = std::ranges::find(signature_.fields, name, &FieldInfo::name);
    const bool human = field != signature_.fields.end() && field->human != 0;
    try {
      WITAN_TRY(made, human ? signedCells(*field, value, counselor, at) : Result<json::value>(value));
      WITAN_DO(setField(fields_, mutator, name, made, "edit"));
    } catch (const Fault& fault) {
      return invalid(concat("edit.", name, ": ", fault.message));
    }
  }
  return okStatus();
}

Status UntypedModule::counselorCommit(EntityState& entity, CommitBase base, const Action* pending,
                                      const json::object& edited, std::string_view counselor, Time at,
                                      Evaluation& out) const {
  JournalBase& journal = scratchJournal();
  const PublicFields before = entity.shared;
  const std::uint64_t failingBefore = entity.notPassing;
  entity.shared.clock = at;
  Status status = okStatus();
  if (base == CommitBase::candidate && pending != nullptr)
    if (const std::string fault = applyAction(entity, journal, *pending, at); !fault.empty())
      status = invalid("the candidate can no longer be made (" + fault + ")", "commit from \"current\" or reject");
  bool waiversChanged = false;
  if (status.ok())
    mutate(entity, journal,
           [&](void* mutator) { status = edit(entity, mutator, edited, counselor, at, waiversChanged); });
  const auto undone = [&](Status why) {
    journal.undoIn(stateOf(entity));
    entity.shared = before;
    entity.notPassing = failingBefore;
    return why;
  };
  if (!status.ok()) return undone(status);
  out.reset(invariants_.size());
  out.verdicts[0] = static_cast<std::uint8_t>(InvResult::pass);
  entity.notPassing = 0;
  for (std::size_t i = 0; i < invariants_.size(); ++i) {
    Verdict verdict = full(invariants_[i], entity);
    out.verdicts[i + 1] = static_cast<std::uint8_t>(verdict.result());
    if (verdict.passed()) continue;
    entity.notPassing |= std::uint64_t{1} << i;
    out.findings.push_back(
        {static_cast<std::uint16_t>(i + 1), verdict.result(), readable(std::move(verdict).takeMessage())});
  }
  appendWrites(fields_, journal, stateOf(entity), out.writes);
  if (std::string excess = excessOf(out.writes, journal, stateOf(entity)); !excess.empty())
    return undone(invalid(excess));
  if (waiversChanged) {  // they take their place in key order
    json::value merged = parseJson(out.writes, kCommitLimits).value();
    merged.as_object()["waivers"] = parseJson(toJson(entity.shared.waivers), kCommitLimits).value();
    out.writes = canonicalJson(merged);
    if (out.writes.size() > kRecordTextMax)
      return undone(invalid(
          concat("the write set has ", out.writes.size(), " bytes with the waivers: a record holds ", kRecordTextMax)));
  }
  journal.clear();
  return okStatus();
}

}  // namespace witan::kernel
