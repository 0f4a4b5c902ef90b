#include "net/child_process.h"

#include <gtest/gtest.h>

#include <csignal>

namespace witan::net::test::child_process_test {
namespace {

TEST(ChildProcess, OneThatClosedItsInputDoesNotEndThisOne) {
  ::signal(SIGPIPE, SIG_DFL);  // as a program starts
  Loop loop;
  std::unique_ptr<ChildProcess> child;
  std::string how;
  ChildEvents events{.out = [&](std::string_view) { EXPECT_TRUE(child->send("unread\n").ok()); },
                     .err = [](std::string_view) {},
                     .ended =
                         [&](std::string end) {
                           how = std::move(end);
                           loop.stop();
                         }};
  auto started = ChildProcess::start(
      loop, {.command = {"/bin/sh", "-c", "exec 0<&-; echo closed; sleep 0.2"}, .environment = {"PATH=/usr/bin:/bin"}},
      events);
  ASSERT_TRUE(started.ok()) << started.error().message;
  child = std::move(*started);
  loop.run();
  EXPECT_EQ(how, "exit code 0");
}

}  // namespace
}  // namespace witan::net::test::child_process_test
