// A short scheduler slice for a thread that waits for the disk and must then run at once.
//
// Linux' EEVDF scheduler gives a waking thread the core sooner the shorter the slice it asked for; its share of the
// processor stays the same. Since Linux 6.12 an ordinary thread may ask (sched_setattr(2), sched_runtime).
#pragma once

#include <chrono>

namespace witan::store {

inline constexpr std::chrono::nanoseconds kCommitSlice{100'000};

// Asks for the calling thread, whose policy and nice value are kept; the kernel clamps to 0.1 .. 100 ms. Returns
// whether the kernel took it. Older kernels and sandboxes refuse or ignore it: harmless, only the latency is worse.
bool requestShortSlice(std::chrono::nanoseconds slice = kCommitSlice);

}  // namespace witan::store
