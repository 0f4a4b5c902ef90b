#include "node/agent_feed.h"

#include <algorithm>
#include <array>

#include "agents/host/agent_host.h"
#include "node/line_reader.h"
#include "replication/journal_write.h"

namespace witan::node {

using namespace replication;

namespace {

constexpr std::size_t kLineBytes = 1 << 20;

Result<std::string> textIn(const json::object& line, const char* member) {
  const json::value* value = line.if_contains(member);
  if (value == nullptr || !value->is_string()) return invalid("no text \"" + std::string(member) + "\"");
  return std::string(value->get_string());
}

Error inLine(std::size_t number, const Error& error) {
  return {error.code, "line " + std::to_string(number) + ": " + error.message, error.hint};
}

}  // namespace

Result<AgentFeed> AgentFeed::read(const std::string& path) {
  AgentFeed feed;
  WITAN_DO(forEachLine(path, kLineBytes, [&](const InputLine& input) -> Status {
    if (input.overlong) return invalid("line " + std::to_string(input.number) + " is longer than 1 MiB");
    if (input.text.find_first_not_of(" \t\r") == std::string_view::npos) return okStatus();
    if (feed.lines_.size() == kMaxFeedLines)
      return invalid("more than " + std::to_string(kMaxFeedLines) + " lines", "feed it in parts");
    auto parsed = parseJson(input.text);
    if (!parsed.ok()) return inLine(input.number, parsed.error());
    if (!parsed->is_object()) return inLine(input.number, invalid("no object"));
    auto text = textIn(parsed->get_object(), "at");
    if (!text.ok()) return inLine(input.number, text.error());
    auto time = parseTime(*text);
    if (!time.ok()) return inLine(input.number, time.error());
    if (!feed.lines_.empty() && *time < feed.lines_.back().at)
      return inLine(input.number, invalid("it is earlier than the line before"));
    feed.lines_.push_back({input.number, *time, std::move(parsed->get_object())});
    return okStatus();
  }));
  return feed;
}

Status AgentFeed::apply(Replica& replica, const std::string& scope, Now now) {
  const Line& line = lines_[next_++];
  Status done = enter(replica, scope, line, now);
  return done.ok() ? done : Status(inLine(line.number, done.error()));
}

Status AgentFeed::enter(Replica& replica, const std::string& scope, const Line& line, Now now) {
  return feedLine(replica, scope, line.object, now);
}

Status feedLine(Replica& replica, const std::string& scope, const json::object& line, Now now) {
  if (line.contains("agent")) {
    WITAN_TRY(agent, textIn(line, "agent"));
    WITAN_TRY(session, textIn(line, "session"));
    WITAN_TRY(turn, textIn(line, "turn"));
    WITAN_TRY(text, textIn(line, "text"));
    if (replica.agents() == nullptr) return invalid("no agents work here");
    auto run = replica.agents()->userTurn(agent, session, turn, text, now);
    return run.ok() ? okStatus() : Status(run.error());
  }
  WITAN_TRY(id, textIn(line, "id"));
  WITAN_TRY(type, textIn(line, "type"));
  const json::value* payload = line.if_contains("payload");
  if (payload == nullptr) return invalid("no \"payload\"");
  WITAN_TRY(space, replica.data().database(DatabaseName::journal).space(scope));
  WITAN_TRY(view, journalViewIn(*space, id));
  const std::string text = canonicalJson(*payload);
  for (const Sibling& sibling : view.siblings)
    if (sibling.body && sibling.body->type == type && sibling.body->payload == text) return okStatus();
  WITAN_TRY(body, journalEdit(view, {type, text, replica.device(), now.wallMs(), std::nullopt}));
  const std::array change{JournalChange{id, std::move(body), "", ChangeOrigin::local}};
  WITAN_TRY(writes, journalWrites(*space, change));
  auto dot = replica.commit(DatabaseName::journal, scope, writes);
  return dot.ok() ? okStatus() : Status(dot.error());
}

}  // namespace witan::node
