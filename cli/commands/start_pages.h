// Start pages: what of the program and its libraries only the start has used need not stay mapped.
//
// A node at rest needs a tenth of the code that has run until it was up: the command line with all its commands,
// opening and recovering three stores, relocation. Those pages are the page cache's; unmapped, they come back by
// themselves when they are used again (a minor fault for 64 KiB).
#pragma once

#include <cstddef>

namespace witan::node {

// Unmaps them, and gives back free memory of the heap. The bytes that this process has resident less than before; 0 if
// it could not look (no /proc). Only pages that are as they are in the file. A millisecond or two.
std::size_t releaseStartPages();

}  // namespace witan::node
