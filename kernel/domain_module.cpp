#include "kernel/domain_module.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json_codec.h"

namespace witan::kernel {

void Evaluation::reset(std::size_t invariants) {
  tag = Tag::approved;
  witness = 0;
  message.clear();
  verdicts.assign(invariants + 1, static_cast<std::uint8_t>(InvResult::notEvaluated));
  findings.clear();
  writes.clear();
}

bool DomainModule::authorised(std::string_view counselor) const {
  const auto& known = signature().counselors;
  return std::ranges::find(known, counselor) != known.end();
}

std::string_view DomainModule::invariantId(std::uint16_t index) const {
  return index == 0 ? kKernelIntegrity : std::string_view(signature().invariants.at(index - 1u).id);
}

std::string actionSchemaHead(std::string_view domain) {
  // A Cap'n Proto file id has its top bit set.
  Hash id = sha256(concat("witan/actions/", domain));
  id[0] |= 0x80;
  return concat("@0x", toHex(std::span(id).first(8)), ";\n# The actions of domain ", domain,
                ". Words of an enumeration travel as Text, days and microseconds count from 1970-01-01,\n"
                "# and an optional member that is absent is a null pointer.\n");
}

std::vector<std::string> Signature::fieldNames(FieldMask mask) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (mask >> i & 1) names.push_back(fields[i].name);
  return names;
}

bool Signature::freezesByKey() const { return std::ranges::any_of(fields, &FieldInfo::instances); }

namespace {

bool share(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& one) { return std::ranges::binary_search(b, one); });
}

}  // namespace

bool Touch::meets(const Touch& other) const {
  if (instances.empty() || other.instances.empty()) return true;
  return share(instances, other.instances) || share(written, other.rows) || share(other.written, rows);
}

std::string actionJsonSchema(std::string_view process, json::object arguments) {
  arguments["properties"].as_object()["type"] = json::object{{"const", process}};
  json::array required{"type"};
  if (const json::value* others = arguments.if_contains("required"))
    required.insert(required.end(), others->as_array().begin(), others->as_array().end());
  arguments["required"] = std::move(required);
  return canonicalJson(arguments);
}

std::string Signature::canonical(std::string_view policyJson) const {
  std::string out = "{\"domain\":";
  appendJsonString(out, domain);
  out += ",\"fields\":[";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    out += i ? ",[" : "[";
    appendJsonString(out, fields[i].name);
    out += ',';
    appendJsonString(out, fields[i].type);
    if (fields[i].human != 0) out += ",\"human\"";
    if (fields[i].instances) out += ",\"instances\"";
    out += ']';
  }
  out += "],\"invariants\":[";
  for (std::size_t i = 0; i < invariants.size(); ++i) {
    if (i) out += ',';
    appendJsonString(out, invariants[i].id);
  }
  out += "],\"policy\":";
  out += policyJson;
  out += ",\"processes\":[";
  for (std::size_t i = 0; i < processes.size(); ++i) {
    out += i ? ",[" : "[";
    appendJsonString(out, processes[i].name);
    out += ',';
    appendJsonString(out, processes[i].role);
    out += ']';
  }
  out += "]}";
  return out;
}

}  // namespace witan::kernel
