// Slices that are bound to a key, of every domain alike (kernel/bound_slices.h).
#include <algorithm>
#include <set>
#include <vector>

#include "kernel/untyped_module.h"

namespace witan::kernel {

const BoundSlices* boundSlicesOf(const DomainModule& module) {
  const auto* slices = dynamic_cast<const BoundSlices*>(&module);
  return slices != nullptr && slices->saysWhoseRows() ? slices : nullptr;
}

void UntypedModule::writeSlice(std::string& out, const EntityState& entity, FieldMask mask,
                               std::string_view key) const {
  std::string text;
  writeState(text, entity, mask);
  json::object state = parseJson(text, kOwnJson).value().as_object();
  std::set<std::string, std::less<>> shown;
  for (const FieldOps& field : fields_) {
    json::value* cells = state.if_contains(field.name);
    if (cells == nullptr) continue;
    json::object kept;
    if (field.keys != nullptr)
      for (const auto& [row, cell] : cells->as_object())
        if (belongs(entity, field.bit, field.keys(field.index, stateOf(entity))->find(row), key)) {
          kept[row] = cell;
          shown.emplace(row);
        }
    if (kept.empty())
      state.erase(field.name);
    else
      *cells = std::move(kept);
  }
  PublicFields shared = entity.shared;
  std::erase_if(shared.waivers, [&](const Waiver& waiver) { return !shown.contains(waiver.subject); });
  state.erase("waivers");
  if (!shared.waivers.empty()) state["waivers"] = parseJson(toJson(shared.waivers), kOwnJson).value();
  out += canonicalJson(state);
}

// A row that was there is known by any of its cells, one that is made by those that are written.
bool UntypedModule::staysWithin(const EntityState& entity, const Action& action, Time at, std::string_view key) const {
  const auto isOthers = [&](const FieldOps& field, std::string_view row) {
    if (field.keys == nullptr || row.size() > kKeyMax) return false;
    const Slot slot = field.keys(field.index, stateOf(entity))->find(row);
    return slot != kNoSlot && field.has(field.index, stateOf(entity), slot) && !belongs(entity, field.bit, slot, key);
  };
  for (const std::string& name : textsIn(action))
    if (std::ranges::any_of(fields_, [&](const FieldOps& field) { return isOthers(field, name); })) return false;
  auto& scratch = const_cast<EntityState&>(entity);  // it is as before when this returns
  JournalBase& journal = scratchJournal();
  std::vector<std::pair<const TableKeys*, std::string>> written;
  bool within = applyAction(scratch, journal, action, at).empty();
  if (within) {
    for (const FieldOps& field : fields_) {
      if ((journal.touched() & field.bit) == 0) continue;
      Slots slots;
      if (field.keys == nullptr)
        within = false;
      else
        field.written(field.index, journal, slots);
      for (const Slot slot : slots) {
        within = within && belongs(entity, field.bit, slot, key);
        const TableKeys* table = field.keys(field.index, stateOf(entity));
        written.emplace_back(table, table->key(slot));
      }
    }
  }
  journal.undoIn(stateOf(scratch));
  return within && std::ranges::none_of(written, [&](const auto& row) {
           return std::ranges::any_of(fields_, [&](const FieldOps& field) {
             return field.keys != nullptr && field.keys(field.index, stateOf(entity)) == row.first &&
                    isOthers(field, row.second);
           });
         });
}

}  // namespace witan::kernel
