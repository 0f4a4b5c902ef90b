// How much room a data directory's disk has, in the terms of `witan status`, `witan doctor` and `/readyz`. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace witan::node {

enum class DiskLevel {
  ok,
  low,   // less than 1 GiB is free: an operator should act
  full,  // less than 100 MiB and less than 5 % are free: the next write may fail
};

struct DiskSpace {
  std::uint64_t free = 0, capacity = 0;  // bytes
  DiskLevel level = DiskLevel::ok;
  std::string what;  // "512 MiB free"
  std::string todo;  // empty if ok
};

// Of a disk that cannot be asked: level low.
inline DiskSpace diskSpaceOf(const std::filesystem::path& dir) {
  std::error_code ec;
  const std::filesystem::space_info space = std::filesystem::space(dir, ec);
  if (ec) return {0, 0, DiskLevel::low, "its free space is not known (" + ec.message() + ")", "look at it with df"};
  DiskSpace disk{space.available, space.capacity};
  disk.what = std::to_string(space.available >> 20) + " MiB free";
  if (space.available < (std::uint64_t{100} << 20) && space.available < space.capacity / 20) {
    disk.level = DiskLevel::full;
    disk.todo = "free some space: a full disk stops the node";
  } else if (space.available < (std::uint64_t{1} << 30)) {
    disk.level = DiskLevel::low;
    disk.todo = "free some space soon";
  }
  return disk;
}

}  // namespace witan::node
