// How a program ends: its exit codes, and the form in which it reports an error. Any thread.
#pragma once

#include "base/result.h"

namespace witan::node {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitSomeRefused = 3;
inline constexpr int kExitUnreachable = 4;

class Command;

// Parses and runs; reports a wrong command line. Returns `exitCode`, which the commands' callbacks set.
int parseAndReport(Command& app, int argc, char** argv, const int& exitCode);

// Prints `witan: <what>: <what to do>` to stderr, with `json` {"error":{"code","message","hint"}}. Returns
// kExitUnreachable for an unavailable peer, else kExitFailed.
int reportError(const Error& error, bool json);

// The same for a command line that is wrong whatever the disk or the peer says: kExitUsage.
int reportUsage(const Error& error, bool json);

}  // namespace witan::node
