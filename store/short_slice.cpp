#include "store/short_slice.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace witan::store {
namespace {

// struct sched_attr, first version (sched_setattr(2)); glibc 2.36 declares neither it nor the calls.
struct SchedAttr {
  std::uint32_t size = sizeof(SchedAttr);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};
static_assert(sizeof(SchedAttr) == 48);

bool readAttr(SchedAttr& attr) { return syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0) == 0; }

}  // namespace

bool requestShortSlice(std::chrono::nanoseconds slice) {
  SchedAttr attr;
  if (!readAttr(attr)) return false;
  if (attr.policy != SCHED_OTHER && attr.policy != SCHED_BATCH) return false;  // elsewhere it would mean a deadline
  attr.size = sizeof attr;
  attr.runtime = static_cast<std::uint64_t>(slice.count());
  if (syscall(SYS_sched_setattr, 0, &attr, 0) != 0) return false;
  SchedAttr now;
  return readAttr(now) && now.runtime == attr.runtime;  // kernels before 6.12 say yes and do nothing
}

}  // namespace witan::store
