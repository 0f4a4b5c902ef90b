#include "kernel/untyped_module.h"

#include <algorithm>

#include "base/string_util.h"

namespace witan::kernel {

namespace {

constexpr JsonLimits kCommitLimits{.bytes = 64 << 20};

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

void rejectByKernel(const Verdict& verdict, Evaluation& out) {
  out.tag = Evaluation::Tag::rejected;
  out.witness = 0;
  out.verdicts[0] = static_cast<std::uint8_t>(InvResult::reject);
  out.message = verdict.message();
}

}  // namespace

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

Result<EntityPtr> UntypedModule::create(const json::object& fields, Time at) const {
  EntityPtr entity = empty();
  JournalBase& journal = scratchJournal();
  FieldMask given = 0;
  Status status = okStatus();
  mutate(*entity, journal, [&](void* mutator) {
    try {
      for (const auto& [name, value] : fields) {
        const auto mask = setField(fields_, mutator, name, value, "init");
        if (!mask) {
          status = mask.error();
          return;
        }
        if ((*mask & ~fieldsOfBeginning()) != 0) {
          status = invalid(concat("init.", name, ": no beginning sets it"));
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

void UntypedModule::decide(EntityState& entity, std::string_view role, const Action& action, Time at, Evaluation& out,
                           bool everything) const {
  JournalBase& journal = scratchJournal();
  out.reset(invariants_.size());
  if (std::string fault = kernelFault(entity, journal, role, action, at); !fault.empty()) {
    journal.undoIn(stateOf(entity));
    return rejectByKernel(Verdict::reject(std::move(fault)), out);
  }
  out.verdicts[0] = static_cast<std::uint8_t>(InvResult::pass);
  const Time clockBefore = entity.shared.clock;
  entity.shared.clock = at;
  walkCandidate(entity, journal, out, everything);
  if (out.tag != Evaluation::Tag::approved) {
    journal.undoIn(stateOf(entity));
    entity.shared.clock = clockBefore;
    return;
  }
  entity.notPassing = 0;  // whatever was not passing was evaluated, and passed
  appendWrites(fields_, journal, stateOf(entity), out.writes);
  journal.clear();
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
      verdict = Verdict::reject(std::move(fault.message));
      if (out.tag == Evaluation::Tag::approved) return rejectByKernel(verdict, out);
    }
    out.verdicts[i + 1] = static_cast<std::uint8_t>(verdict.result());
    if (verdict.passed()) continue;
    const auto index = static_cast<std::uint16_t>(i + 1);
    if (out.tag == Evaluation::Tag::approved) {
      out.tag = verdict.result() == InvResult::reject ? Evaluation::Tag::rejected : Evaluation::Tag::escalated;
      out.witness = index;
      out.message = verdict.message();
    }
    if (out.tag == Evaluation::Tag::rejected) return;
    // F16: an escalation's whole detection vector.
    out.findings.push_back({index, verdict.result(), std::move(verdict).takeMessage()});
  }
}

Status UntypedModule::edit(EntityState& entity, void* mutator, const json::object& edit, bool& waiversChanged) const {
  for (const auto& [name, value] : edit) {
    if (name == "waivers") {
      WITAN_DO(addWaivers(entity.shared, value));
      waiversChanged = true;
      continue;
    }
    if (name == "clock" || name == "policy")
      return invalid(concat("edit.", name, ": belongs to the kernel and can't be edited"));
    try {
      WITAN_DO(setField(fields_, mutator, name, value, "edit"));
    } catch (const Fault& fault) {
      return invalid(concat("edit.", name, ": ", fault.message));
    }
  }
  return okStatus();
}

Status UntypedModule::counselorCommit(EntityState& entity, CommitBase base, const Action* pending,
                                      const json::object& edited, Time at, Evaluation& out) const {
  JournalBase& journal = scratchJournal();
  const PublicFields before = entity.shared;
  entity.shared.clock = at;
  Status status = okStatus();
  if (base == CommitBase::candidate && pending != nullptr)
    if (const std::string fault = applyAction(entity, journal, *pending, at); !fault.empty())
      status = invalid("the candidate can no longer be made (" + fault + ")", "commit from \"current\" or reject");
  bool waiversChanged = false;
  if (status.ok())
    mutate(entity, journal, [&](void* mutator) { status = edit(entity, mutator, edited, waiversChanged); });
  if (!status.ok()) {
    journal.undoIn(stateOf(entity));
    entity.shared = before;
    return status;
  }
  out.reset(invariants_.size());
  out.verdicts[0] = static_cast<std::uint8_t>(InvResult::pass);
  entity.notPassing = 0;
  for (std::size_t i = 0; i < invariants_.size(); ++i) {
    Verdict verdict = full(invariants_[i], entity);
    out.verdicts[i + 1] = static_cast<std::uint8_t>(verdict.result());
    if (verdict.passed()) continue;
    entity.notPassing |= std::uint64_t{1} << i;
    out.findings.push_back({static_cast<std::uint16_t>(i + 1), verdict.result(), std::move(verdict).takeMessage()});
  }
  appendWrites(fields_, journal, stateOf(entity), out.writes);
  journal.clear();
  if (!waiversChanged) return okStatus();
  // "waivers" takes its place in key order.
  json::value merged = parseJson(out.writes, kCommitLimits).value();
  merged.as_object()["waivers"] = parseJson(toJson(entity.shared.waivers), kCommitLimits).value();
  out.writes = canonicalJson(merged);
  return okStatus();
}

}  // namespace witan::kernel
