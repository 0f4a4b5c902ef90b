#include "agents/decision/refusal.h"

namespace witan::agents::decision {

namespace {

void add(std::string& reasons, const std::string& reason) {
  if (!reasons.empty()) reasons += "; ";
  reasons += reason;
}

void addIfShort(std::string& reasons, Natural needed, Natural granted, const char* what) {
  if (needed <= granted) return;
  add(reasons,
      std::string(what) + ": needs " + std::to_string(needed.value()) + ", has " + std::to_string(granted.value()));
}

}  // namespace

std::string whyRefused(const Tool& tool, const State& st) {
  std::string reasons;
  addIfShort(reasons, tool.requiredAccess, st.fileAccess, "file access level");
  if (tool.requiresExecute && !st.executeAllowed) add(reasons, "execution of code is not allowed");
  addIfShort(reasons, tool.tokenCost, st.tokenBudget, "tokens");
  addIfShort(reasons, tool.timeCost, st.timeBudget, "seconds");
  return reasons;
}

}  // namespace witan::agents::decision
