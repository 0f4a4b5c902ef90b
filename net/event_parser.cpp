#include "net/event_parser.h"

namespace witan::net {

Status EventParser::feed(std::string_view bytes, const std::function<bool(const ServerEvent&)>& event) {
  for (const char c : bytes) {
    if (stopped_) return okStatus();
    const bool second = std::exchange(sawCarriageReturn_, c == '\r') && c == '\n';
    if (second) continue;  // of CR LF
    if (c == '\r' || c == '\n') {
      stopped_ = !takeLine(event);
      line_.clear();
      continue;
    }
    if (line_.size() + event_.data.size() >= maxEventBytes_)
      return invalid("a server-sent event of more than " + std::to_string(maxEventBytes_) + " bytes");
    line_.push_back(c);
  }
  return okStatus();
}

// One line without its end. False: the receiver wants no more.
bool EventParser::takeLine(const std::function<bool(const ServerEvent&)>& event) {
  std::string_view line = line_;
  if (std::exchange(first_, false) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.empty()) {
    ServerEvent whole = event_;
    event_ = ServerEvent{"message", "", event_.id};
    if (!std::exchange(hasData_, false)) return true;  // nothing but a name, or a comment: not dispatched
    whole.data.pop_back();
    return event(whole);
  }
  const std::size_t colon = std::min(line.find(':'), line.size());
  const std::string_view field = line.substr(0, colon);
  std::string_view value = line.substr(std::min(line.size(), colon + 1));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    event_.data.append(value).push_back('\n');
    hasData_ = true;
  } else if (field == "event") {
    event_.name = value.empty() ? "message" : std::string(value);
  } else if (field == "id" && value.find('\0') == std::string_view::npos) {
    event_.id = value;
  } else if (field == "retry" && !value.empty() && value.size() <= 9 &&
             value.find_first_not_of("0123456789") == std::string_view::npos) {
    retryMs_ = std::stoll(std::string(value));
  }
  return true;
}

}  // namespace witan::net
