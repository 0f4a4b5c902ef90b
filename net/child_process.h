// ChildProcess: a program that this one starts, speaks with over its stdin and stdout, and ends. It is confined: a
// process group of its own, no descriptor of ours, an environment of what is listed, limits of memory and files, no new
// privileges, no system calls that reach into other processes or the kernel (where the kernel filters them), and
// without a network if told so. It ends with us.
//
// Belongs to its loop's thread; the loop must outlive it. Nothing here blocks. Events come from the loop, never from
// inside a call; an event's function may destroy the object. Destroying it kills the group without a further event.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/loop.h"

namespace witan::net {

struct ChildOptions {
  std::vector<std::string> command;      // the program, found in PATH, and its arguments
  std::vector<std::string> environment;  // NAME=VALUE
  bool network = true;                   // false: it has none; it does not start where the kernel cannot do that
  std::uint64_t memoryBytes = 0;         // of its address space; 0: no limit
  std::uint64_t files = 256;             // that it may have open
  std::size_t maxQueued = 4 << 20;       // bytes that wait for it to read them
};

struct ChildEvents {
  std::function<void(std::string_view bytes)> out;  // its stdout, as it comes
  std::function<void(std::string_view bytes)> err;  // its stderr
  // It has gone, with all of its stdout told before. How, in words: "exit code 1", "signal 9".
  std::function<void(std::string how)> ended;
};

class ChildProcess {
 public:
  // From the first on this process ignores SIGPIPE: a program that has closed its stdin does not end us.
  // Errors: invalid, no command; unavailable, no process can be made.
  static Result<std::unique_ptr<ChildProcess>> start(Loop& loop, ChildOptions options, ChildEvents events);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Errors: unavailable, it has gone, or too many bytes wait for it.
  Status send(std::string bytes);
  void closeInput();  // after what was sent
  void kill();        // the whole group
  int id() const;

 private:
  struct State;
  explicit ChildProcess(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace witan::net
