#include "node/daemon/agent_feed.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "agents/host/agent_host.h"
#include "agents/json_members.h"
#include "base/bytes.h"
#include "base/identity.h"
#include "base/json.h"
#include "base/quote.h"
#include "program/line_reader.h"
#include "replication/records/journal_entity.h"

namespace witan::node {

using namespace replication;
using agents::textOf;

namespace {

constexpr std::size_t kLineBytes = 1 << 20;

Status checkMembers(const json::object& line, std::initializer_list<std::string_view> known) {
  for (const auto& member : line)
    if (std::find(known.begin(), known.end(), std::string_view(member.key())) == known.end())
      return invalid("unknown member " + inQuotes(member.key()), "see docs/agents.md, Feeds");
  return okStatus();
}

Status checkId(const json::object& line, const char* member) {
  WITAN_TRY(id, textOf(line, member));
  return validateId(member, id);
}

Status checkTurn(const json::object& line, const std::set<std::string>& agents) {
  WITAN_DO(checkMembers(line, {"at", "agent", "session", "turn", "text"}));
  for (const char* member : {"agent", "session", "turn"}) WITAN_DO(checkId(line, member));
  WITAN_TRY(agent, textOf(line, "agent"));
  if (!agents.contains(agent)) return invalid("no agent " + inQuotes(agent) + " works here");
  WITAN_TRY(text, textOf(line, "text"));
  (void)text;
  return okStatus();
}

Status checkEntry(const json::object& line) {
  WITAN_DO(checkMembers(line, {"at", "id", "type", "payload"}));
  for (const char* member : {"id", "type"}) WITAN_DO(checkId(line, member));
  return line.contains("payload") ? okStatus() : invalid("it has no \"payload\"");
}

Status checkDecision(const json::object& line) {
  WITAN_DO(checkMembers(line, {"at", "counselor", "domain", "entity", "decision", "edit", "reason"}));
  for (const char* member : {"counselor", "domain", "entity"})
    if (auto text = textOf(line, member); !text.ok()) return text.error();
  WITAN_TRY(decision, textOf(line, "decision"));
  if (decision != "commit" && decision != "reject") return invalid("\"decision\" is neither commit nor reject");
  const json::value* edit = line.if_contains("edit");
  if (edit != nullptr && (decision == "reject" || !edit->is_object()))
    return invalid("\"edit\" is an object, and of a commit");
  return okStatus();
}

// Of what waits for a counselor; where nothing does, nothing is done.
Status decide(Replica& replica, const json::object& line, Now now) {
  WITAN_TRY(domain, textOf(line, "domain"));
  WITAN_TRY(entity, textOf(line, "entity"));
  const PartitionHost* host = replica.host(replica.partitionFor(domain, entity));
  if (host == nullptr) return invalid("this device keeps no ledger of " + inQuotes(domain));
  if (host->ahead())
    return Error{ErrorCode::unavailable, "etcd has not confirmed the last decisions of " + host->id() + " yet",
                 "try again"};
  const auto pending = host->partition().pending(entity);
  if (!pending) return okStatus();
  Request request;
  request.kind = line.at("decision") == "commit" ? RequestKind::commit : RequestKind::reject;
  request.domain = std::move(domain);
  request.entity = std::move(entity);
  request.operationId = "feed-" + toHex(sha256(canonicalJson(line))).substr(0, 32);
  request.counselor = textOf(line, "counselor").value();
  request.reason = textOf(line, "reason", "as the feed says").value();
  request.escalation = pending->seq;
  request.pendingDigest = pending->digest;
  const json::value* edit = line.if_contains("edit");
  if (request.kind == RequestKind::commit) request.text = edit != nullptr ? canonicalJson(*edit) : "{}";
  return replica.enqueue(std::move(request), now);
}

Result<Time> timeOf(const json::object& line) {
  WITAN_TRY(at, textOf(line, "at"));
  auto time = parseTime(at);
  if (!time.ok()) return Error{time.error().code, "at: " + time.error().message, time.error().hint};
  if (time->micros < 0) return invalid("at: " + at + " is before 1970");
  return *time;
}

// The time of a line that has the form of one.
Result<Time> checkLine(const json::object& line, const std::set<std::string>& agents) {
  WITAN_TRY(time, timeOf(line));
  WITAN_DO(line.contains("agent")       ? checkTurn(line, agents)
           : line.contains("counselor") ? checkDecision(line)
                                        : checkEntry(line));
  return time;
}

Error inLine(std::size_t number, const Error& error) {
  return {error.code, "line " + std::to_string(number) + ": " + error.message, error.hint};
}

}  // namespace

Result<AgentFeed> AgentFeed::read(const std::string& path, const std::set<std::string>& agents) {
  AgentFeed feed;
  WITAN_DO(forEachLine(path, kLineBytes, [&](const InputLine& input) -> Status {
    if (input.overlong) return invalid("line " + std::to_string(input.number) + " is longer than 1 MiB");
    if (input.text.find_first_not_of(" \t\r") == std::string_view::npos) return okStatus();
    if (feed.lines_.size() == kMaxFeedLines)
      return invalid("more than " + std::to_string(kMaxFeedLines) + " lines", "feed it in parts");
    auto parsed = parseJson(input.text, {.bytes = kLineBytes, .depth = kMaxFeedDepth});
    if (!parsed.ok()) return inLine(input.number, parsed.error());
    if (!parsed->is_object()) return inLine(input.number, invalid("no object"));
    if (const Status kept = checkIntegersKept(input.text); !kept.ok()) return inLine(input.number, kept.error());
    auto time = checkLine(parsed->get_object(), agents);
    if (!time.ok()) return inLine(input.number, time.error());
    if (!feed.lines_.empty() && *time < feed.lines_.back().at)
      return inLine(input.number, invalid("it is earlier than the line before"));
    feed.lines_.push_back({input.number, *time, std::move(parsed->get_object())});
    return okStatus();
  }));
  return feed;
}

Status AgentFeed::apply(Replica& replica, const agents::ContentSeals& seals, const std::string& scope, Now now) {
  const Line& line = lines_[next_++];
  const auto done = feedLine(replica, seals, scope, line.object, now);
  return done.ok() ? okStatus() : Status(inLine(line.number, done.error()));
}

Result<bool> feedLine(Replica& replica, const agents::ContentSeals& seals, const std::string& scope,
                      const json::object& line, Now now) {
  // Whether the agent works here is the host's to say.
  WITAN_TRY(at, checkLine(line, {std::string(agents::stringOf(line, "agent"))}));
  if (line.contains("agent")) {
    WITAN_TRY(agent, textOf(line, "agent"));
    WITAN_TRY(session, textOf(line, "session"));
    WITAN_TRY(turn, textOf(line, "turn"));
    WITAN_TRY(text, textOf(line, "text"));
    if (replica.agents() == nullptr) return invalid("no agents work here");
    WITAN_DO(replica.agents()->userTurn(agent, session, turn, text, now));
    return true;
  }
  if (line.contains("counselor")) {
    WITAN_DO(decide(replica, line, now));
    return true;
  }
  WITAN_TRY(id, textOf(line, "id"));
  WITAN_TRY(type, textOf(line, "type"));
  WITAN_TRY(space, replica.data().database(DatabaseName::journal).space(scope));
  WITAN_TRY(view, journalViewIn(*space, id));
  WITAN_TRY(text, seals.sealed(type, canonicalJson(line.at("payload"))));
  for (const Sibling& sibling : view.siblings)
    if (sibling.body && sibling.body->type == type && sibling.body->payload == text) return false;
  WITAN_TRY(body, journalEdit(view, {type, text, replica.device(), at.micros / 1000, std::nullopt}));
  const std::array change{JournalChange{id, std::move(body), "", ChangeOrigin::local}};
  WITAN_TRY(writes, journalWrites(*space, change));
  WITAN_DO(replica.commit(DatabaseName::journal, scope, writes));
  return true;
}

}  // namespace witan::node
