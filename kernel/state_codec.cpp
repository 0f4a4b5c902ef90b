#include "kernel/state_codec.h"

#include <algorithm>

#include "base/utf8.h"

namespace witan::kernel {

namespace {

Status setCells(const FieldOps& field, void* mutator, const json::value& value, const std::string& where) {
  if (!value.is_object()) return wrongJsonType(where, "an object of key to value", value);
  for (const auto& [key, item] : value.get_object())
    WITAN_DO(field.set(field.index, mutator, key, item, concat(where, ".", clip(key))));
  return okStatus();
}

// A log takes a list or {"add":[...]}, whose facts come after those it has; or facts by number, as it is written.
Status setLog(const FieldOps& field, void* mutator, const json::value& value, const std::string& where) {
  if (!value.is_object()) {
    if (value.is_array()) return field.append(field.index, mutator, value, where);
    return wrongJsonType(where, "a list, {\"add\":[...]} or an object of number to fact", value);
  }
  const json::value* add = value.get_object().if_contains("add");
  if (add != nullptr && value.get_object().size() == 1) return field.append(field.index, mutator, *add, where);
  for (const auto& [key, item] : value.get_object())
    if (!isLogKey(key))
      return invalid(concat(where, ".", clip(key), ": the facts of a log have numbers of ten digits"));
  return setCells(field, mutator, value, where);
}

// Writes the members of an object, with commas between them.
class Members {
 public:
  explicit Members(std::string& out) : out_(out) { out_ += '{'; }
  void key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    appendJsonString(out_, name);
    out_ += ':';
  }
  void end() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace

void TableKeys::sortUnique(Slots& slots) const {
  if (slots.size() < 2) return;
  std::ranges::sort(slots);
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  std::ranges::sort(slots, [&](Slot a, Slot b) { return keys_[a] < keys_[b]; });
}

Result<FieldMask> setField(FieldTable fields, void* mutator, std::string_view name, const json::value& value,
                           std::string_view where) {
  const auto field =
      std::ranges::lower_bound(fields, name, {}, [](const FieldOps& one) { return std::string_view(one.name); });
  if (field == fields.end() || field->name != name)
    return invalid(concat(where, ": unknown field \"", clip(name), "\""));
  const std::string place = concat(where, ".", name);
  if (field->append != nullptr)
    WITAN_DO(setLog(*field, mutator, value, place));
  else if (field->keys != nullptr)
    WITAN_DO(setCells(*field, mutator, value, place));
  else
    WITAN_DO(field->set(field->index, mutator, {}, value, place));
  return field->bit;
}

void writeState(FieldTable fields, FieldMask mask, const void* state, const PublicFields& shared, std::string& out) {
  Members members(out);
  bool clockDone = false, waiversDone = shared.waivers.empty();
  const auto publicFieldsBefore = [&](std::string_view name) {
    if (!clockDone && "clock" < name) {
      members.key("clock");
      writeJson(out, shared.clock);
      clockDone = true;
    }
    if (!waiversDone && "waivers" < name) {
      members.key("waivers");
      writeJson(out, shared.waivers);
      waiversDone = true;
    }
  };
  for (const FieldOps& field : fields) {
    if ((mask & field.bit) == 0) continue;
    publicFieldsBefore(field.name);
    if (field.keys == nullptr) {
      members.key(field.name);
      field.write(field.index, state, 0, out);
      continue;
    }
    std::optional<Members> cells;
    const TableKeys& keys = *field.keys(field.index, state);
    for (Slot slot : keys.byKey()) {
      if (!field.has(field.index, state, slot)) continue;
      if (!cells) {
        members.key(field.name);
        cells.emplace(out);
      }
      cells->key(keys.key(slot));
      field.write(field.index, state, slot, out);
    }
    if (cells) cells->end();
  }
  publicFieldsBefore("\xff");
  members.end();
}

void appendWrites(FieldTable fields, const JournalBase& journal, const void* state, std::string& out) {
  Members members(out);
  for (const FieldOps& field : fields) {
    if ((journal.touched() & field.bit) == 0) continue;
    members.key(field.name);
    if (field.keys == nullptr) {
      field.write(field.index, state, 0, out);
      continue;
    }
    const TableKeys& keys = *field.keys(field.index, state);
    Slots slots;
    field.written(field.index, journal, slots);
    keys.sortUnique(slots);
    Members cells(out);
    for (Slot slot : slots) {
      cells.key(keys.key(slot));
      if (field.has(field.index, state, slot))
        field.write(field.index, state, slot, out);
      else
        out += "null";
    }
    cells.end();
  }
  members.end();
}

}  // namespace witan::kernel
