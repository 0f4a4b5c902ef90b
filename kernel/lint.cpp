#include "kernel/lint.h"

#include <algorithm>
#include <bit>
#include <map>

#include "kernel/invariant_class.h"

namespace witan::kernel {

namespace {

// Names that a state's JSON already uses.
constexpr std::string_view kReservedFields[] = {"clock", "policy", "waivers"};

FieldMask lifecycleFields(const Signature& signature) {
  FieldMask mask = 0;
  for (std::size_t i = 0; i < signature.fields.size(); ++i)
    if (signature.fields[i].lifecycle) mask |= FieldMask{1} << i;
  return mask;
}

void findDuplicates(const char* what, const std::vector<std::string>& names, std::vector<std::string>& problems) {
  std::map<std::string, int> seen;
  for (const std::string& name : names)
    if (++seen[name] == 2) problems.push_back(std::string("two ") + what + " are called " + name);
}

template <class T, class Name>
std::vector<std::string> namesOf(const std::vector<T>& all, Name name) {
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const T& one : all) names.push_back(one.*name);
  return names;
}

void findProblems(const Signature& signature, std::vector<std::string>& problems) {
  findDuplicates("fields", namesOf(signature.fields, &FieldInfo::name), problems);
  findDuplicates("processes", namesOf(signature.processes, &ProcessInfo::name), problems);
  findDuplicates("roles", namesOf(signature.roles, &RoleInfo::name), problems);
  findDuplicates("invariants", namesOf(signature.invariants, &InvariantInfo::id), problems);
  for (const FieldInfo& field : signature.fields)
    if (std::find(std::begin(kReservedFields), std::end(kReservedFields), field.name) != std::end(kReservedFields))
      problems.push_back("field " + field.name + " has the name of a public field");
  for (const ProcessInfo& process : signature.processes)
    if (process.footprint() == 0) problems.push_back("process " + process.name + " has an empty footprint");
  for (const RoleInfo& role : signature.roles)
    if (std::none_of(signature.processes.begin(), signature.processes.end(),
                     [&](const auto& p) { return p.role == role.name; }))
      problems.push_back("role " + role.name + " performs no process");
  const InvariantInfo* escalating = nullptr;
  for (const InvariantInfo& invariant : signature.invariants) {
    if (invariant.id == kKernelIntegrity) problems.push_back("invariant " + invariant.id + " has the kernel's own id");
    if (invariant.footprint == 0) problems.push_back("invariant " + invariant.id + " has an empty footprint");
    if (invariant.onFailure == InvResult::escalate)
      escalating = &invariant;
    else if (escalating != nullptr)
      problems.push_back("invariant " + invariant.id + " rejects but stands after " + escalating->id +
                         ", which escalates: a doomed proposal would be sent to a human");
  }
}

}  // namespace

std::string InvariantLint::section23() const {
  const bool local = !containedIn.empty();
  if (local) return crossBySection23() ? "local and cross-cutting" : "local";
  return crossBySection23() ? "cross-cutting" : "neither";
}

SignatureLint lintSignature(const Signature& signature) {
  SignatureLint lint;
  FieldMask inSomeRole = 0;
  FieldMask written = 0;
  FieldMask read = 0;
  for (const RoleInfo& role : signature.roles) inSomeRole |= role.footprint;
  for (const ProcessInfo& process : signature.processes) {
    written |= process.writes;
    read |= process.reads;
  }
  std::vector<RoleReach<FieldMask>> reaches;
  for (const RoleInfo& role : signature.roles) reaches.push_back({role.name, role.footprint, role.writes});
  for (const InvariantInfo& invariant : signature.invariants) {
    read |= invariant.footprint;
    lint.invariants.push_back(classifyInvariant(invariant.id, invariant.footprint, reaches));
    lint.invariants.back().orphans = signature.fieldNames(invariant.footprint & ~inSomeRole);
  }
  const FieldMask all = signature.fields.size() == 64 ? ~FieldMask{0} : (FieldMask{1} << signature.fields.size()) - 1;
  lint.inNoRole = signature.fieldNames(all & ~inSomeRole);
  lint.neverWritten = signature.fieldNames(all & ~written);
  lint.neverRead = signature.fieldNames(all & ~read);
  const FieldMask lifecycle = lifecycleFields(signature);
  for (const ProcessInfo& process : signature.processes) {
    ProcessLint one{process.name, process.role};
    for (const RoleInfo& role : signature.roles) {
      if (role.name != process.role) continue;
      one.excess = static_cast<std::uint32_t>(std::popcount(role.footprint & ~(process.footprint() & ~lifecycle)));
      one.of = static_cast<std::uint32_t>(std::popcount(role.footprint));
    }
    lint.processes.push_back(std::move(one));
  }
  findProblems(signature, lint.problems);
  return lint;
}

}  // namespace witan::kernel
