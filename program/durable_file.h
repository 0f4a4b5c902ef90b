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

// Within one folder, and the folder synced. Errors: ioFailed.
Status renameFile(const std::filesystem::path& from, const std::filesystem::path& to);

// A file that somebody names, open to be read; the caller closes it. None if there is no such file. What a shell or a
// parent handed over (<(...), /dev/stdin) may be a pipe. Errors: ioFailed; invalid if it is no regular file: a pipe
// without a writer would be waited for, a device may have no end.
Result<std::optional<int>> openToRead(const std::filesystem::path& path);

// All of such a file. Errors: as above; invalid if it is longer than `limit` bytes. Memory: the file's.
Result<std::optional<std::string>> readSmallFile(const std::filesystem::path& path, std::size_t limit);

// Without the line ends at the end.
std::string_view chomped(std::string_view text);

}  // namespace witan::node
