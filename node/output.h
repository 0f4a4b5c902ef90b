// Where a command's data and words go: the process's own streams, or, while a daemon carries a command out for somebody
// else (node/daemon/command_desk.h), texts. Per thread.
#pragma once

#include <string>
#include <string_view>

namespace witan::node {

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

void putOut(std::string_view text);
void putErr(std::string_view text);

}  // namespace witan::node
