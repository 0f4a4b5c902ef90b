#include "node/output.h"

#include <cstdio>

namespace witan::node {

namespace {

thread_local Captured* captured = nullptr;

}  // namespace

OutputCapture::OutputCapture(Captured& into) : before_(captured) { captured = &into; }
OutputCapture::~OutputCapture() { captured = before_; }

void putOut(std::string_view text) {
  if (captured != nullptr)
    captured->out += text;
  else
    (void)std::fwrite(text.data(), 1, text.size(), stdout);
}

void putErr(std::string_view text) {
  if (captured != nullptr)
    captured->err += text;
  else
    (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace witan::node
