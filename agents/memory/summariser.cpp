#include "agents/memory/summariser.h"

#include <algorithm>
#include <deque>

#include "base/reflect.h"
#include "base/utf8.h"

namespace witan::agents {

namespace {

constexpr std::size_t kLineBytes = 160;

// One line of one message: its kind and its first words.
std::string lineOf(const SummaryRequest::Line& message) {
  std::string text(clip(message.content, kLineBytes));
  for (char& c : text)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  if (text.size() < message.content.size()) text += "...";
  return std::string(enumName(message.kind)) + ": " + text;
}

}  // namespace

Result<std::string> ExtractSummariser::summarise(const SummaryRequest& request) const {
  std::deque<std::string> lines;
  for (std::size_t at = 0; at < request.previous.size();) {
    const std::size_t end = std::min(request.previous.find('\n', at), request.previous.size());
    lines.push_back(request.previous.substr(at, end - at));
    at = end + 1;
  }
  for (const auto& message : request.messages)
    if (!message.content.empty()) lines.push_back(lineOf(message));
  std::size_t size = 0;
  for (const std::string& line : lines) size += line.size() + 1;
  // The oldest lines go first.
  while (!lines.empty() && size > bytes_) {
    size -= lines.front().size() + 1;
    lines.pop_front();
  }
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "" : "\n") + line;
  return out;
}

}  // namespace witan::agents
