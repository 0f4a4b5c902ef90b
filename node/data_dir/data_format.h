// The version of a data directory's layout, in DIR/format: "witan data 1". Written when the directory is made, checked
// before anything else in it is read, so that a program never works on a layout that it does not know. Directories from
// before this file have none: version 1.
//
// The stores inside have versions of their own (store/rocks_store.h).
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace witan::node {

inline constexpr std::uint64_t kDataFormat = 1;
inline constexpr const char* kDataFormatFile = "format";

// Leaves an existing file alone. Durable. Errors: ioFailed.
Status writeDataFormat(const std::filesystem::path& dir);

// Errors: corrupt; invalidInput if it is newer than this program, with both versions.
Result<std::uint64_t> readDataFormat(const std::filesystem::path& dir);

}  // namespace witan::node
