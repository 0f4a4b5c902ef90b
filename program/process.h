// What a process must settle before and after its command: standard streams that are closed, signals that would kill
// it half-way, output that did not arrive. For main() and for commands that write durable things.
#pragma once

namespace witan::node {

// A closed standard stream is replaced by one that fails: else the next file opened would take its number, and words
// for stderr would end up inside a database. A file size limit becomes an error of the write that meets it.
void prepareProcess();

// A reader that went away becomes an error of write() instead of the end of the process.
void ignoreBrokenPipes();

// `exitCode`, or kExitFailed with words on stderr when stdout could not take all that was printed.
int finishOutput(int exitCode);

}  // namespace witan::node
