#include "cli/commands/start_pages.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace witan::node {

namespace {

struct Mapping {
  std::uintptr_t from = 0, to = 0;
  bool ofFile = false;  // private, and not to be written
};

std::size_t residentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// "55d0-55e0 r-xp 00001000 08:01 1234  /usr/bin/witan"
bool readMapping(const std::string& line, Mapping& mapping) {
  unsigned long from = 0, to = 0, offset = 0, inode = 0;
  char rights[8] = "", device[16] = "";
  if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx %15s %lu", &from, &to, rights, &offset, device, &inode) != 6)
    return false;
  mapping = {from, to, inode != 0 && rights[0] == 'r' && rights[1] == '-' && rights[3] == 'p'};
  return true;
}

// Those without a page of their own: relocated ones, though not to be written any more, exist here alone.
std::vector<Mapping> unchangedMappings() {
  std::vector<Mapping> found;
  std::ifstream smaps("/proc/self/smaps");
  Mapping current;
  bool own = true;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long kilobytes = 1;
    if (readMapping(line, current)) {
      own = true;
    } else if (std::sscanf(line.c_str(), "Anonymous: %lu", &kilobytes) == 1) {
      own = kilobytes != 0;
    } else if (std::sscanf(line.c_str(), "Swap: %lu", &kilobytes) == 1) {  // comes after it
      if (current.ofFile && !own && kilobytes == 0) found.push_back(current);
    }
  }
  return found;
}

}  // namespace

std::size_t releaseStartPages() {
  const std::size_t before = residentBytes();
  for (const Mapping& mapping : unchangedMappings())
    (void)::madvise(reinterpret_cast<void*>(mapping.from), mapping.to - mapping.from, MADV_DONTNEED);
  ::malloc_trim(0);
  const std::size_t after = residentBytes();
  return before > after ? before - after : 0;
}

}  // namespace witan::node
