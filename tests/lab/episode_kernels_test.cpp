// K-01 to K-04 of seed 004's appendix and its experiments 1, 2, 3 and 5, each with a twin that must be found out (F20).
#include <gtest/gtest.h>

#include "lab/conformance/kernels.h"

namespace witan::agents::conformance::episode_kernels_test {
namespace {

class Kernels : public testing::TestWithParam<KernelCheck> {};

TEST_P(Kernels, Holds) {
  const Finding finding = GetParam().run();
  EXPECT_TRUE(finding.pass) << finding.detail;
}

TEST_P(Kernels, TwinIsFoundOut) {
  const Finding finding = GetParam().twin();
  EXPECT_TRUE(finding.pass) << finding.detail;
}

INSTANTIATE_TEST_SUITE_P(Seed004, Kernels, testing::ValuesIn(kernelChecks().begin(), kernelChecks().end()),
                         [](const auto& one) {
                           std::string name(one.param.id);
                           name.erase(name.find('-'), 1);
                           return name;
                         });

}  // namespace
}  // namespace witan::agents::conformance::episode_kernels_test
