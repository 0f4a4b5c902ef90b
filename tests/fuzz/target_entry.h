// Any bytes as a ledger entry: both readers agree, what is read is shown as one line of JSON, and written again it is
// canonical.
#pragma once

#include "kernel/record/entry.h"
#include "tests/fuzz/domains.h"

namespace witan::fuzz {

inline void fuzzEntry(std::string_view bytes) {
  const auto owned = kernel::readEntry(bytes);
  const auto words = alignedWords(bytes);
  WITAN_CHECK(words.ok() || !owned.ok(), "an entry is whole words");
  if (!words.ok()) return;
  const std::string_view aligned(reinterpret_cast<const char*>(words->data()), words->size() * 8);
  const auto view = kernel::readEntryView(aligned);
  WITAN_CHECK(view.ok() == owned.ok(), "both readers agree");
  if (!view.ok()) return;
  checkShown(kernel::entryJson(*view, {"KERNEL_INTEGRITY", "BUDGET_CAP"}));
  WordWriter writer;
  const std::string again(writer.message(*view));
  WITAN_CHECK(std::string(writer.message(*owned)) == again, "both hold the same");
  WITAN_CHECK(kernel::isCanonicalEntry(*view, aligned) == (again == aligned), "canonical is: the same bytes again");
  const auto copy = kernel::readEntry(again);
  WITAN_CHECK(copy.ok() && std::string(writer.message(*copy)) == again, "the canonical bytes are a fixed point");
}

}  // namespace witan::fuzz
