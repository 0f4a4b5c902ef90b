// Any bytes as the document of a graph: an error that names a place, or a document whose checks end.
#pragma once

#include "base/check.h"
#include "kernel/graph/checks.h"

namespace witan::fuzz {

inline void fuzzGraph(std::string_view text) {
  const auto value = parseJson(text);
  if (!value.ok()) return;
  const graph::Checked checked = graph::checkGraph(*value, {});
  WITAN_CHECK(checked.document || !checked.errors.empty(), "a refusal has a reason");
  for (const graph::Finding& finding : checked.errors) WITAN_CHECK(!finding.message.empty(), finding.id);
}

}  // namespace witan::fuzz
