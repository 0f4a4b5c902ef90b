// ServiceManager: what systemd wants to hear (sd_notify(3)), over the datagram socket that $NOTIFY_SOCKET names.
// Without one every call does nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace witan::node {

class ServiceManager {
 public:
  // From the environment.
  ServiceManager();
  explicit ServiceManager(std::string socket, std::int64_t watchdogMicros = 0);

  void ready(std::string_view status);
  void reloading();
  void stopping();
  void alive();  // for WatchdogSec=
  // How often alive() is due; 0: never.
  std::int64_t aliveEveryMs() const { return watchdogMicros_ / 2000; }

 private:
  void send(const std::string& message) const;

  std::string socket_;
  std::int64_t watchdogMicros_ = 0;
};

}  // namespace witan::node
