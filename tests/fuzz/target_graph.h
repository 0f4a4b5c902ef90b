// Any bytes as the document of a graph, or as a case of `graph run --script`: an error that names a place, or checks
// and runs that end.
#pragma once

#include "base/check.h"
#include "kernel/graph/checks.h"
#include "kernel/graph/script.h"

namespace witan::fuzz {

inline void fuzzGraph(std::string_view text) {
  const auto value = parseJson(text, graph::kScriptLimits);
  if (!value.ok()) return;
  const graph::Checked checked = graph::checkGraph(*value, {});
  WITAN_CHECK(checked.document || !checked.errors.empty(), "a refusal has a reason");
  for (const graph::Finding& finding : checked.errors) WITAN_CHECK(!finding.message.empty(), finding.id);
  const auto scripted = graph::readCase(*value);
  if (!scripted.ok()) return;
  graph::Runtime rebuilt{graph::Monitor()};
  const auto apply = [&](const graph::Entry& entry, const graph::Runtime&) { rebuilt.apply(entry); };
  if (graph::runScript(*scripted, {.entry = apply}, {.lines = 3'000, .bytes = 1 << 20}).ok()) rebuilt.recover(1);
}

}  // namespace witan::fuzz
