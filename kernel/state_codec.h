// StateCodec: the JSON form of a state, a slice, an edit or a write set: {"field":{"key":value},"scalar":value}.
#pragma once

#include <string>

#include "base/json_codec.h"
#include "kernel/mutator.h"

namespace witan::kernel {

template <class Fields>
struct StateCodec {
  using State = typename Journal<Fields>::State;

  // Sets one field by name: a scalar's value, or the named keys of a column (null erases one). Returns its mask.
  // Throws Fault for an impossible key.
  static Result<FieldMask> setField(Mutator<Fields>& m, std::string_view name, const json::value& value,
                                    std::string_view where) {
    FieldMask found = 0;
    Status status = okStatus();
    forEachField<Fields>([&]<class F>() {
      if (found != 0 || F::name != name) return;
      found = FieldMask{1} << indexOf<F, Fields>;
      if constexpr (isLogField<F>())
        status = setLog<F>(m, value, std::string(where) + "." + std::string(name));
      else if constexpr (F::isColumn)
        status = setColumn<F>(m, value, std::string(where) + "." + std::string(name));
      else
        status = setScalar<F>(m, value, std::string(where) + "." + std::string(name));
    });
    if (found == 0) return invalid(std::string(where) + ": unknown field \"" + std::string(clip(name)) + "\"");
    if (!status.ok()) return status.error();
    return found;
  }

  // Fields of `mask` that hold something, and clock and waivers, in name order.
  static void write(std::string& out, const State& state, const PublicFields& shared, FieldMask mask) {
    out += '{';
    bool first = true;
    bool clockDone = false;
    bool waiversDone = shared.waivers.empty();
    auto key = [&](std::string_view name) {
      if (!first) out += ',';
      first = false;
      appendJsonString(out, name);
      out += ':';
    };
    auto publicFieldsBefore = [&](std::string_view name) {
      if (!clockDone && std::string_view("clock") < name) {
        key("clock");
        writeJson(out, shared.clock);
        clockDone = true;
      }
      if (!waiversDone && std::string_view("waivers") < name) {
        key("waivers");
        writeJson(out, shared.waivers);
        waiversDone = true;
      }
    };
    forEachByName([&]<class F>() {
      if (!(mask >> indexOf<F, Fields> & 1)) return;
      publicFieldsBefore(F::name);
      if constexpr (F::isColumn) {
        bool any = false;
        const auto& table = state.*F::table;
        for (Slot slot : table.byKey()) {
          const auto& cell = F::of(table.row(slot));
          if (!cell) continue;
          if (!any) key(F::name);
          out += any ? ',' : '{';
          any = true;
          appendJsonString(out, table.key(slot));
          out += ':';
          writeJson(out, *cell);
        }
        if (any) out += '}';
      } else {
        key(F::name);
        writeJson(out, F::of(state));
      }
    });
    publicFieldsBefore("\xff");
    out += '}';
  }

 private:
  template <class Visit>
  static void forEachByName(Visit&& visit) {
    [&]<template <class...> class List, class... F>(TypeBox<List<F...>>) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (visit.template operator()<std::tuple_element_t<FieldsByName<Fields>::order[I], std::tuple<F...>>>(), ...);
      }
      (std::index_sequence_for<F...>{});
    }(TypeBox<Fields>{});
  }

  template <class F>
  static Status setScalar(Mutator<Fields>& m, const json::value& value, const std::string& where) {
    typename F::Value parsed{};
    WITAN_DO(readJson(value, parsed, where));
    m.template set<F>(std::move(parsed));
    return okStatus();
  }

  template <class F>
  static constexpr bool isLogField() {
    if constexpr (F::isColumn)
      return F::isLog;
    else
      return false;
  }

  // A log takes a list or {"add":[...]}, whose facts come after those it has; or facts by number, as it is written.
  template <class F>
  static Status setLog(Mutator<Fields>& m, const json::value& value, const std::string& where) {
    const json::value* list = value.is_object() ? value.get_object().if_contains("add") : &value;
    if (list == nullptr || (value.is_object() && value.get_object().size() != 1)) {
      if (!value.is_object())
        return wrongJsonType(where, "a list, {\"add\":[...]} or an object of number to fact", value);
      for (const auto& [key, item] : value.get_object())
        if (!isLogKey(key))
          return invalid(where + "." + std::string(clip(key)) + ": the facts of a log have numbers of ten digits");
      return setColumn<F>(m, value, where);
    }
    std::vector<typename F::Value> facts;
    WITAN_DO(readJson(*list, facts, where));
    for (auto& fact : facts) m.template append<F>(std::move(fact));
    return okStatus();
  }

  template <class F>
  static Status setColumn(Mutator<Fields>& m, const json::value& value, const std::string& where) {
    if (!value.is_object()) return wrongJsonType(where, "an object of key to value", value);
    for (const auto& [key, item] : value.get_object()) {
      if (item.is_null()) {
        if (auto row = m.template find<F::table>(key)) row->template erase<F>();
        continue;
      }
      typename F::Value parsed{};
      WITAN_DO(readJson(item, parsed, where + "." + std::string(clip(key))));
      m.template edit<F::table>(key).template set<F>(std::move(parsed));
    }
    return okStatus();
  }
};

}  // namespace witan::kernel
