// A RunResult as JSON, from a worker to its parent and for --json. Digests are hexadecimal texts: JSON numbers are not
// whole beyond 2^53.
#pragma once

#include <string>
#include <string_view>

#include "sim/run.h"

namespace witan::sim {

std::string writeRunResult(const RunResult& result);
Result<RunResult> readRunResult(std::string_view text);

std::string hexDigest(std::uint64_t digest);  // 16 digits

}  // namespace witan::sim
