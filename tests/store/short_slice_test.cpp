#include "store/short_slice.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <cstdio>
#include <thread>

namespace witan::store {
namespace {

bool kernelHasSlices() {
  utsname name;
  int major = 0, minor = 0;
  if (uname(&name) != 0 || std::sscanf(name.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 6 || (major == 6 && minor >= 12);
}

TEST(ShortSlice, IsTakenByKernelsThatHaveIt) {
  if (!kernelHasSlices()) GTEST_SKIP() << "this kernel is older than 6.12";
  std::thread([] { EXPECT_TRUE(requestShortSlice()); }).join();
}

TEST(ShortSlice, KeepsPolicyAndNiceValue) {
  std::thread([] {
    ASSERT_EQ(setpriority(PRIO_PROCESS, 0, 5), 0);  // of this thread only, on Linux
    requestShortSlice();
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), 5);
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
  }).join();
}

TEST(ShortSlice, LeavesOtherPoliciesAlone) {
  std::thread([] {
    sched_param param{};
    ASSERT_EQ(sched_setscheduler(0, SCHED_IDLE, &param), 0);
    EXPECT_FALSE(requestShortSlice());
    EXPECT_EQ(sched_getscheduler(0), SCHED_IDLE);
  }).join();
}

TEST(ShortSlice, AnImpossibleSliceIsNotAnError) {
  std::thread([] { requestShortSlice(std::chrono::hours(1)); }).join();
}

}  // namespace
}  // namespace witan::store
