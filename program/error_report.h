// How a program ends: its exit codes (docs/CLI.md has the table), and the form in which it reports an error. Any
// thread.
#pragma once

#include <memory>

#include "base/result.h"
#include "program/command_line.h"

namespace witan::node {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitSomeRefused = 3;
inline constexpr int kExitUnreachable = 4;

// Parses and runs; reports a wrong command line. Returns the exit code.
int parseAndReport(Command& app, int argc, char** argv);

// Prints `witan: <what>: <what to do>` to stderr, with `json` {"error":{"code","message","hint"}}. Returns
// kExitUnreachable for an unavailable peer, else kExitFailed.
int reportError(const Error& error, bool json);

// The same for a command line that is wrong whatever the disk or the peer says: kExitUsage.
int reportUsage(const Error& error, bool json);

// The command calls `work`, which takes the arguments and returns an exit code, or success, or an error. `report`
// prints the error as `arguments->json` says.
template <class Arguments, class Work>
void runs(Command* command, const std::shared_ptr<Arguments>& arguments, Work work,
          int (*report)(const Error&, bool) = reportError) {
  command->callback([=] {
    const auto done = work(*arguments);
    if (!done.ok()) return report(done.error(), arguments->json);
    if constexpr (std::is_same_v<decltype(done), const Status>)
      return kExitOk;
    else
      return *done;
  });
}

// The lines that an import refuses, on stderr: the first hundred in full, the rest as a number.
class ImportErrors {
 public:
  explicit ImportErrors(bool json) : json_(json) {}

  void add(const Error& error);
  std::size_t count() const { return count_; }
  // After the last: how many were not shown.
  void finish() const;

 private:
  bool json_;
  std::size_t count_ = 0;
};

}  // namespace witan::node
