// A line of an export of a ledger (docs/ledger-format.md, section 3): its bytes, and a half that people read.
//
// Pure functions. What they return borrows the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "kernel/record/entry.h"

namespace witan::kernel {

inline constexpr std::size_t kMaxExportLine = 64 << 20;  // bytes

// A line of an export in the form in which this program writes it, cut without reading it as JSON.
struct WrittenLine {
  std::string_view leaf, bytes, entry;
};

struct ReadLine {
  std::string leaf, bytes;
  json::value shown;
};

// Of any form. Errors: it is none, or is not number `seq`.
Result<ReadLine> readExportLine(std::string_view line, std::uint64_t seq);
// None: it has another form, or is no UTF-8.
std::optional<WrittenLine> cutWrittenLine(std::string_view line, std::uint64_t seq);
// Whether what people read is what the bytes say. Without the invariants' names the words of the verdicts count alone.
Status saysTheSame(const json::value& shown, const EntryView& e, const std::vector<std::string>& names);

}  // namespace witan::kernel
