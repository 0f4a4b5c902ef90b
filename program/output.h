// Where a command's data and words go: the process's own streams, or, while a daemon carries a command out for somebody
// else (cli/commands/node_command.h), texts. Per thread.
//
// Names, texts and messages come from other devices and from files, and a terminal obeys some of their bytes. So what
// people read goes through forTerminal(): words by putWords() and putErr(), which also leave JSON what it says.
#pragma once

#include <string>
#include <string_view>

namespace witan::node {

// Controls but line ends and tabs, directions of writing (U+202A to U+202E, U+2066 to U+2069) and bytes that are no
// UTF-8 become \u00XX or \uXXXX; everything else stays. Any thread.
std::string forTerminal(std::string_view text);

struct Captured {
  std::string out, err;
};

// While it lives, what this thread puts is collected. They nest.
class OutputCapture {
 public:
  explicit OutputCapture(Captured& into);
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

 private:
  Captured* before_;
};

// Data, byte by byte.
void putOut(std::string_view text);
void putWords(std::string_view text);
void putErr(std::string_view text);

}  // namespace witan::node
