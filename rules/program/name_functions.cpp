// What domains compare: names in one form each, digests of what is still secret, severities.
#include "base/bytes.h"
#include "base/sha256.h"
#include "rules/program/cvss.h"
#include "rules/program/functions.h"
#include "rules/program/names.h"

namespace witan::rules {

namespace {

Value noText(Machine& m) { return m.fail("no_such_overload", "this is not defined for these arguments"); }

Value isBlankText(Machine& m, const Value* a, std::size_t) {
  if (!a->is(Tag::text)) return noText(m);
  return m.spend(a->n / 8) ? Value::of(!isStated(a->str())) : m.tooLong();
}

// The one form of a name, or none.
template <auto formOf>
Value inOneForm(Machine& m, const Value* a, std::size_t) {
  if (!a->is(Tag::text)) return noText(m);
  if (!m.spend(1 + a->n / 4)) return m.tooLong();
  const std::optional<std::string> form = formOf(a->str());
  return form ? m.arena.listOf({m.arena.copy(*form)}, Tag::optional) : Value::none();
}
std::optional<std::string> cveId(std::string_view text) {
  std::string id = canonicalCveId(text);
  return isCveId(id) ? std::optional(std::move(id)) : std::nullopt;
}
std::optional<std::string> nameOf(std::string_view text) {
  std::string name = canonicalName(text);
  return isPartyName(name) ? std::optional(std::move(name)) : std::nullopt;
}

template <Hash (*digest)(std::string_view)>
Value digestOf(Machine& m, const Value* a, std::size_t) {
  if (!a->is(Tag::bytes)) return noText(m);
  if (!m.spend(8 + a->n)) return m.tooLong();
  return m.arena.copy(asView(digest(a->str())), Tag::bytes);
}
Value bytesOfHex(Machine& m, const Value* a, std::size_t) {
  if (!a->is(Tag::text)) return noText(m);
  if (!m.spend(1 + a->n / 8)) return m.tooLong();
  const auto bytes = fromHex(a->str());
  return bytes.ok() ? m.arena.listOf({m.arena.copy(*bytes, Tag::bytes)}, Tag::optional) : Value::none();
}

Value cvssScore(Machine& m, const Value* a, std::size_t) {
  if (!a->is(Tag::text)) return noText(m);
  const auto tenths = cvssTenths(a->str());
  return tenths ? m.arena.listOf({Value::of(*tenths / 10.0)}, Tag::optional) : Value::none();
}

constexpr const char* kForm = "(string): optional(string)";

constexpr FunctionRow kNameFunctions[] = {
    {"isBlank", ".(string): bool", isBlankText},
    {"cve.id", kForm, inOneForm<cveId>},
    {"hcpcs.code", kForm, inOneForm<canonicalProcedureCode>},
    {"email.address", kForm, inOneForm<canonicalEmail>},
    {"name.id", kForm, inOneForm<nameOf>},
    {"sha256", "(bytes): bytes", digestOf<sha256>},
    {"sha3_256", "(bytes): bytes", digestOf<sha3_256>},
    {"hex.bytes", "(string): optional(bytes)", bytesOfHex},
    {"cvss.score", "(string): optional(double)", cvssScore},
};

}  // namespace

std::span<const FunctionRow> nameFunctions() { return kNameFunctions; }

}  // namespace witan::rules
