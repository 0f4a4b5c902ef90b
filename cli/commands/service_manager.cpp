#include "cli/commands/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace witan::node {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// One line: what people wrote must not become further assignments.
std::string oneLine(std::string_view words) {
  std::string line(words);
  for (char& c : line)
    if (c == '\n') c = ' ';
  return line;
}

}  // namespace

ServiceManager::ServiceManager()
    : ServiceManager(variable("NOTIFY_SOCKET"), std::strtoll(variable("WATCHDOG_USEC").c_str(), nullptr, 10)) {}

ServiceManager::ServiceManager(std::string socket, std::int64_t watchdogMicros)
    : socket_(std::move(socket)), watchdogMicros_(watchdogMicros) {}

void ServiceManager::send(const std::string& message) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // the abstract namespace
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  (void)::sendto(fd, message.data(), message.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
  ::close(fd);
}

void ServiceManager::ready(std::string_view status) { send("READY=1\nSTATUS=" + oneLine(status)); }

void ServiceManager::reloading() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(now.tv_sec * 1'000'000LL + now.tv_nsec / 1000));
}

void ServiceManager::stopping() { send("STOPPING=1"); }
void ServiceManager::alive() { send("WATCHDOG=1"); }

}  // namespace witan::node
