#include "kernel/domain_description.h"

#include "base/bytes.h"
#include "kernel/lint.h"

namespace witan::kernel {

namespace {

ProcessDescription describeProcess(const Signature& signature, const ProcessInfo& process) {
  ProcessDescription out{process.name,
                         std::nullopt,
                         {},
                         signature.fieldNames(process.reads),
                         signature.fieldNames(process.writes),
                         parseJson(process.schema, kOwnJson).value().as_object()};
  if (!process.role.empty()) out.role = process.role;
  for (std::size_t i = 0; i < process.arguments.size(); ++i)
    out.arguments.push_back({process.arguments[i].first, process.arguments[i].second, i < process.required});
  return out;
}

}  // namespace

DomainDescription describeDomain(const DomainModule& module) {
  const Signature& s = module.signature();
  const SignatureLint lint = lintSignature(s);
  DomainDescription out{s.domain, s.title};
  for (const FieldInfo& field : s.fields) out.fields.push_back({field.name, field.type, field.lifecycle});
  for (const RoleInfo& role : s.roles)
    out.roles.push_back({role.name, s.fieldNames(role.footprint), s.fieldNames(role.writes)});
  for (const ProcessInfo& process : s.processes) out.processes.push_back(describeProcess(s, process));
  for (std::size_t i = 0; i < s.invariants.size(); ++i) {
    const InvariantInfo& one = s.invariants[i];
    const bool crossCutting = lint.invariants[i].crossCutting();
    const FailureOutcome onFailure = one.mixed                              ? FailureOutcome::mixed
                                     : one.onFailure == InvResult::escalate ? FailureOutcome::escalate
                                                                            : FailureOutcome::reject;
    out.invariants.push_back({one.id, onFailure, one.rule, s.fieldNames(one.footprint), one.incremental,
                              crossCutting ? InvariantClass::crossCutting : InvariantClass::local,
                              lint.invariants[i].containedIn});
  }
  out.counselors = s.counselors;
  out.policy = parseJson(module.policyJson(), kOwnJson).value();
  out.digest = toHex(module.digest());
  return out;
}

}  // namespace witan::kernel
