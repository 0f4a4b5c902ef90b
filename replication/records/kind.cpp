#include "replication/records/kind.h"

#include <array>

namespace witan::replication {

namespace {

struct Row {
  Kind kind;
  KindTraits traits;
};

constexpr KindTraits with(bool KindTraits::*special, KindTraits traits) {
  traits.*special = true;
  return traits;
}

// name, journal, agents, resident, digested, register, removable
constexpr std::array kKinds{
    Row{Kind::agentState, with(&KindTraits::deltas, {"agentState", false, true, true, true, true, true})},
    Row{Kind::message, {"message", false, true, false, true, false, true}},
    Row{Kind::link, {"link", false, true, false, true, false, true}},
    Row{Kind::batch, with(&KindTraits::event, {"batch", true, true, false, false, false, true})},
    Row{Kind::wakeRun, with(&KindTraits::guarded, {"wakeRun", false, true, true, true, true, true})},
    Row{Kind::plan, with(&KindTraits::contested, {"plan", false, true, false, true, false, true})},
    Row{Kind::summary, {"summary", false, true, false, true, false, true}},
    Row{Kind::journal, {"journal", true, false, true, true, true, true}},
    Row{Kind::policy, {"policy", false, true, true, true, false, false}},
    Row{Kind::statement, {"statement", false, true, true, true, false, false}},
    Row{Kind::operation, {"operation", true, true, false, true, false, true}},
    Row{Kind::approval, {"approval", false, true, true, true, true, true}},
    Row{Kind::receipt, {"receipt", false, true, true, true, true, true}},
};

constexpr KindTraits kUnknown{"unknown", true, true, true, true, true, true};

}  // namespace

const KindTraits& traitsOf(Kind kind) {
  for (const Row& row : kKinds)
    if (row.kind == kind) return row.traits;
  return kUnknown;
}

}  // namespace witan::replication
