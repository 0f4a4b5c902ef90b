// Requests, decisions and answers in words, for the trace: who asked for what, in which role, how it was decided, at
// which time of the domain and why. Pure functions; long texts are cut.
#pragma once

#include <string>

#include "kernel/record/entry.h"
#include "replica/core/messages.h"

namespace witan::sim {

// Canonical JSON of a proposal's action; "" if it is no action of the domain.
std::string actionText(const kernel::DomainModule& module, const node::Request& request);

// "op-7 budget-1: A {"n":5,"type":"SpendA"}"; of a counselor who, about which entry, and with which edit. Null: a
// domain that nobody has.
std::string formatRequest(const node::Request& request, const kernel::DomainModule* module);

// "entry 12, op-7 budget-1: rejected by BUDGET_CAP, "105 of 100 are spent"; A {...} at 2026-03-23T08:00:05.000Z"
std::string formatEntry(const kernel::Entry& entry);

// "op-7: rejected by BUDGET_CAP, "105 of 100 are spent" (entry 12)"
std::string answerWords(const node::Answer& answer);

}  // namespace witan::sim
