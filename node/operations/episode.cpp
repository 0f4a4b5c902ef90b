#include "node/operations/episode.h"

#include <algorithm>

#include "agents/episode/replay.h"
#include "base/quote.h"
#include "domains/agents.h"

namespace witan::node::operations {

using namespace replication;
using agents::episode::EntryKind;
using agents::episode::TranscriptKey;
using agents::episode::TranscriptRow;

namespace {

Result<Space*> spaceOf(OperationContext& context, const EpisodeRequest& request) {
  Space* space = context.space(DatabaseName::agents, request.scope);
  if (space == nullptr)
    return Error{ErrorCode::notFound,
                 "no agent has a record in scope " + inQuotes(request.scope.value_or(kDefaultScope)), ""};
  return space;
}

std::string textAt(const json::object& body, std::string_view name) {
  const json::value* found = body.if_contains(name);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

// Of which device: the one that was named, or the only one that there is.
Result<TranscriptKey> chosen(Space& space, const EpisodeRequest& a) {
  std::vector<TranscriptKey> found;
  for (TranscriptKey& key : agents::episode::listTranscripts(space))
    if (key.run.hex().starts_with(a.run) && (!a.device || key.device == *a.device)) found.push_back(std::move(key));
  if (found.empty())
    return Error{ErrorCode::notFound, "no transcript of run " + a.run + (!a.device ? "" : " by " + *a.device),
                 "see: witan episode list"};
  if (found.size() == 1) return found.front();
  if (std::any_of(found.begin(), found.end(), [&](const TranscriptKey& key) { return key.run != found[0].run; }))
    return Error{ErrorCode::conflict, "the keys of several runs begin with " + a.run, "give more digits"};
  std::string devices;
  for (const TranscriptKey& key : found) devices += (devices.empty() ? "" : ", ") + key.device;
  return Error{ErrorCode::conflict, "several devices ran it: " + devices, "choose one with --device"};
}

struct Summary {
  std::string agent, version, status, cause;
  std::size_t entries = 0;
};

// Of what is held: the first entry and the last.
Summary summaryOf(const std::vector<TranscriptRow>& rows) {
  Summary out{{}, {}, "unfinished", {}, rows.size()};
  if (const auto first = agents::episode::parseEntry(rows.front().message.content); first.ok()) {
    out.agent = textAt(first->body, "agent");
    out.version = textAt(first->body, "version");
  }
  const auto last = agents::episode::parseEntry(rows.back().message.content);
  if (!last.ok()) {
    out.status = "unreadable";
  } else if (last->kind == EntryKind::end) {
    out.status = textAt(last->body, "status");
    out.cause = textAt(last->body, "cause");
  }
  return out;
}

struct Found {
  TranscriptKey key;
  std::vector<TranscriptRow> rows;
};

Result<Found> transcriptOf(OperationContext& context, const EpisodeRequest& request) {
  WITAN_TRY(space, spaceOf(context, request));
  WITAN_TRY(key, chosen(*space, request));
  WITAN_TRY(rows, agents::episode::readTranscript(*space, key.run, key.device));
  return Found{std::move(key), std::move(rows)};
}

}  // namespace

Result<Episodes> listEpisodes(OperationContext& context, const ScopeRequest& request) {
  Episodes list;
  Space* space = context.space(DatabaseName::agents, request.scope);
  if (space == nullptr) return list;
  for (const TranscriptKey& key : agents::episode::listTranscripts(*space)) {
    WITAN_TRY(rows, agents::episode::readTranscript(*space, key.run, key.device));
    Summary summary = summaryOf(rows);
    list.episodes.push_back({key.run.hex(), key.device, std::move(summary.agent), std::move(summary.version),
                             std::move(summary.status), std::move(summary.cause), summary.entries});
  }
  return list;
}

Result<Transcript> showEpisode(OperationContext& context, const EpisodeRequest& request) {
  WITAN_TRY(found, transcriptOf(context, request));
  Transcript transcript;
  for (const TranscriptRow& row : found.rows) {
    auto entry = parseJson(row.message.content, kOwnJson);
    if (!entry.ok())
      return corrupt("entry " + std::to_string(transcript.entries.size()) + ": " + entry.error().message);
    transcript.entries.push_back(std::move(*entry));
  }
  return transcript;
}

Result<EpisodeReplay> replayEpisode(OperationContext& context, const EpisodeRequest& request) {
  WITAN_TRY(found, transcriptOf(context, request));
  std::vector<std::string> contents;
  for (const TranscriptRow& row : found.rows) contents.push_back(row.message.content);
  const std::string id = summaryOf(found.rows).agent;
  const agents::Agent* agent = domains::findAgent(id);
  if (agent == nullptr)
    return Error{ErrorCode::notFound, "this build has no agent " + inQuotes(id),
                 "replay it with the build that made it"};
  WITAN_TRY(result, agents::episode::replay(*agent, contents));
  EpisodeReplay replay{found.key.run.hex(), found.key.device, result.entries, result.ended, !result.difference, {}};
  if (const auto& d = result.difference)
    replay.difference = EpisodeDifference{d->entry, d->why, json::value(d->recorded), json::value(d->derived)};
  return replay;
}

}  // namespace witan::node::operations
