// Small files that must survive a crash: keys, settings, the high-water record.
//
// Pure of state; any thread, but two writers of one file must not run at once.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace witan::node {

// Written beside, synced, then renamed, and the folder synced: a crash leaves the old file or the new one, and after ok
// it is the new one. Errors: ioFailed, with path and cause.
Status replaceFile(const std::filesystem::path& path, std::string_view text, mode_t mode);

// All of a file, also of one that somebody names: none if there is no such file. Errors: ioFailed; invalid if it is no
// regular file (a pipe would be waited for, a device may have no end) or longer than `limit` bytes. Memory: the file's.
Result<std::optional<std::string>> readSmallFile(const std::filesystem::path& path, std::size_t limit);

// Without the line ends at the end.
std::string_view chomped(std::string_view text);

}  // namespace witan::node
