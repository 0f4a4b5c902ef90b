#include "kernel/domain_module.h"

#include <algorithm>

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
  return std::find(known.begin(), known.end(), counselor) != known.end();
}

std::string_view DomainModule::invariantId(std::uint16_t index) const {
  return index == 0 ? kKernelIntegrity : std::string_view(signature().invariants.at(index - 1u).id);
}

std::vector<std::string> Signature::fieldNames(FieldMask mask) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (mask >> i & 1) names.push_back(fields[i].name);
  return names;
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
