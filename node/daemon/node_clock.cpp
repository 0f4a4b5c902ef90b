#include "node/daemon/node_clock.h"

#include <ctime>

#include "net/loop.h"

namespace witan::node {

namespace {

// Steady, and goes on while the machine sleeps.
std::int64_t awakeOrNotMs() {
#ifdef CLOCK_BOOTTIME
  timespec at{};
  if (::clock_gettime(CLOCK_BOOTTIME, &at) == 0) return std::int64_t{at.tv_sec} * 1'000 + at.tv_nsec / 1'000'000;
#endif
  return net::Loop::nowMs();
}

}  // namespace

Now NodeClock::now() { return {held_.at(wall_.now(), awakeOrNotMs()), net::Loop::nowMs()}; }

void NodeClock::tell(Log& log, replication::LocalReplica& replica) {
  const auto told = held_.take();
  if (!told) return;
  const std::string far = jumpText(told->micros);
  if (told->event == HeldClock::Event::cameBack) return log.info("node", "the wall clock has come back");
  if (told->event == HeldClock::Event::believed)
    return log.warn("node", "the wall clock stays where it jumped to and counts from now on", {{"by", far}});
  log.warn("node", "the wall clock jumped", {{"by", far}, {"do", "set it right within 10 minutes"}});
  replica.note({"clockJumped", "",
                concat("the wall clock of this device jumped: ", far,
                       ". For 10 minutes the device goes by the time "
                       "before it, so no question, deadline or budget has ended. Set the clock right if it is wrong")});
}

}  // namespace witan::node
