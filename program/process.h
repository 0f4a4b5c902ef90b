// What a process must settle before and after its command: standard streams that are closed, signals that would kill
// it half-way, output that did not arrive; and how it becomes another program of this build. For main() and for
// commands that write durable things. Main thread only.
#pragma once

#include <string>
#include <vector>

namespace witan::node {

// A closed standard stream is replaced by one that fails: else the next file opened would take its number, and words
// for stderr would end up inside a database. A file size limit becomes an error of the write that meets it.
void prepareProcess();

// A reader that went away becomes an error of write() instead of the end of the process.
void ignoreBrokenPipes();

// `exitCode`, or kExitFailed with words on stderr when stdout could not take all that was printed.
int finishOutput(int exitCode);

// Replaces the process by `program` (witan-sim, witan-lab) with these arguments, as git starts git-*: the one beside
// this program's file, else the one on PATH. Returns only on failure: an exit code, after it has said how to build or
// install the program.
int runSibling(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace witan::node
