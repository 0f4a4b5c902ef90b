#include "agents/memory/compactor.h"

#include <algorithm>
#include <deque>
#include <limits>

#include "base/capnp_codec.h"
#include "base/mutant.h"
#include "base/reflect.h"
#include "base/utf8.h"
#include "replication/records/agent_state.h"
#include "replication/records/record_write.h"

namespace witan::agents {

namespace {

constexpr std::size_t kLineBytes = 160;
[[maybe_unused]] constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();  // of a broken variant

// One line of one message: its kind and its first words.
std::string lineOf(const SummaryRequest::Line& message) {
  std::string text(clip(message.content, kLineBytes));
  for (char& c : text)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  if (text.size() < message.content.size()) text += "...";
  return concat(enumName(message.kind), ": ", text);
}

constexpr std::string_view kRows = "fold/";

std::string rowOf(const SummaryId& id) { return concat(kRows, id.hex()); }

Result<FoldJob> decodeFold(std::string_view name, std::string_view bytes) {
  FoldJob job;
  if (Status status = readMessage(bytes, job, "fold job"); !status.ok())
    return corrupt(concat("row ", name, ": ", status.error().message));
  const auto id = summaryId({job.agentId, job.threadId, job.startMessageId, job.endMessageId, job.contractVersion});
  if (!id.ok() || id->value != job.summaryId || rowOf(*id) != name)
    return corrupt(concat("row ", name, ": the summary id is not the job's"));
  return job;
}

// Whether a summary of all up to `end` has room for the text of the one before: all that this one covers is behind
// `end` too, and would stand beside its own text otherwise.
bool isBehind(const replication::MessageGraph& graph, const std::optional<ChosenSummary>& before,
              const std::string& end) {
  return !before || before->endMessageId == end || graph.isAncestor(before->endMessageId, end);
}

std::vector<std::int64_t> sizesOf(const Messages& messages) {
  std::vector<std::int64_t> sizes;
  for (const replication::Message* m : messages) sizes.push_back(static_cast<std::int64_t>(m->body.content.size()));
  return sizes;
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

using replication::DatabaseName;
using replication::Kind;
using replication::Write;

Result<std::size_t> foldCount(std::span<const std::int64_t> sizes, std::int64_t budget) {
  if (budget < 0) return invalid(concat("a budget of ", budget, " (not negative)"));
  std::int64_t kept = 0;
  std::size_t first = sizes.size();
  while (first > 0) {
    const std::int64_t size = sizes[first - 1];
    if (size < 0) return invalid(concat("a message of ", size, " bytes"));
    // The newest stays even if it is too large by itself; then nothing else does.
    if (first < sizes.size() && size > budget - kept) break;
    kept += size;
    --first;
  }
  return first;
}

Result<replication::Space*> Compactor::space() { return replica_.database(DatabaseName::agents).space(options_.scope); }

Result<const replication::MessageGraph*> Compactor::graphOf(std::string_view agentId) {
  WITAN_TRY(records, space());
  return messages_.graph(*records, agentId);
}

void Compactor::put(const FoldJob& job) {
  WordWriter words;
  replica_.database(DatabaseName::agents).putMeta(rowOf(SummaryId{job.summaryId}), words.message(job));
}

void Compactor::erase(const SummaryId& id) {
  if (!mutated("keepFoldRow")) replica_.database(DatabaseName::agents).eraseMeta(rowOf(id));
  jobs_.erase(id);
}

Status Compactor::load(Now now) {
  Status status = okStatus();
  WITAN_DO(replica_.database(DatabaseName::agents).scanMeta(kRows, [&](std::string_view name, std::string_view bytes) {
    auto job = decodeFold(name, bytes);
    if (!job.ok()) return status = job.error(), false;
    const SummaryId id{job->summaryId};
    const std::int64_t left = std::clamp<std::int64_t>(job->dueAtMs - now.wallMs(), 0, options_.lastBackoffMs);
    jobs_.emplace(id, Waiting{*std::move(job), now.ms + left});
    return true;
  }));
  return status;
}

Result<Planned> Compactor::plan(std::string_view agentId, std::string_view threadId, const Summariser& summariser,
                                Now now) {
  for (const auto& [id, waiting] : jobs_)
    if (waiting.job.agentId == agentId && waiting.job.threadId == threadId) return Planned::nothing;
  WITAN_TRY(records, space());
  WITAN_TRY(messages, graphOf(agentId));
  const replication::MessageGraph& graph = *messages;
  WITAN_TRY(state, agentStateToWrite(*records, agentId));
  WITAN_TRY(chosen, chosenSummary(*records, graph, threadId, state.pointers.latestSummaryMessageId));
  const Messages thread = threadMessages(graph, threadId);
  const Messages newer = notCovered(thread, chosen);
  const std::vector<std::int64_t> sizes = sizesOf(newer);
  std::int64_t total = 0;
  for (const std::int64_t size : sizes) total += size;
  if (total <= options_.triggerBytes) return Planned::nothing;
  WITAN_TRY(count, foldCount(sizes, options_.keepBytes));
  // A join that nothing was kept before is folded with what it joins.
  while (count > 0 && count + 1 < sizes.size() && sizes[count] == 0) ++count;
  // Back to where everything earlier is behind one message.
  const std::vector<bool> cuts = cutsOf(graph, thread);
  std::set<std::string> ends;
  for (std::size_t i = 0; i < thread.size(); ++i)
    if (cuts[i]) ends.insert(thread[i]->body.id);
  const auto mayEnd = [&](const std::string& id) { return ends.contains(id) && isBehind(graph, chosen, id); };
  while (count > 0 && !mayEnd(newer[count - 1]->body.id)) --count;
  if (count == 0) {
    const auto body = joinOf(graph, thread);
    return body ? join(*body) : Result<Planned>(Planned::nothing);
  }
  FoldJob job{.agentId = std::string(agentId),
              .threadId = std::string(threadId),
              .startMessageId = newer.front()->body.id,
              .endMessageId = newer[count - 1]->body.id,
              .contractVersion = summariser.version()};
  WITAN_TRY(id, summaryId({job.agentId, job.threadId, job.startMessageId, job.endMessageId, job.contractVersion}));
  job.summaryId = id.value;
  put(job);
  jobs_.emplace(id, Waiting{std::move(job), now.ms});
  return Planned::job;
}

Result<Planned> Compactor::join(const replication::MessageBody& body) {
  WITAN_TRY(records, space());
  WITAN_TRY(known, records->versions(Kind::message, body.id));
  if (!known.empty()) return Planned::nothing;
  WITAN_TRY(write, replication::recordWrite(body.id, body));
  WITAN_DO(replica_.commit(DatabaseName::agents, options_.scope, {&write, 1}));
  return Planned::join;
}

Result<std::optional<Compactor::Span>> Compactor::spanOf(const FoldJob& job) {
  WITAN_TRY(records, space());
  WITAN_TRY(messages, graphOf(job.agentId));
  const replication::MessageGraph& graph = *messages;
  WITAN_TRY(state, agentStateToWrite(*records, job.agentId));
  WITAN_TRY(chosen, chosenSummary(*records, graph, job.threadId, state.pointers.latestSummaryMessageId));
  if (!isBehind(graph, chosen, job.endMessageId)) return std::optional<Span>();
  const std::set<std::string> folded = withAncestors(graph, job.endMessageId);
  Messages span = notCovered(threadMessages(graph, job.threadId), chosen);
  std::erase_if(span, [&](const replication::Message* m) { return !folded.contains(m->body.id); });
  if (span.empty() || span.front()->body.id != job.startMessageId || span.back()->body.id != job.endMessageId)
    return std::optional<Span>();
  return std::optional<Span>({chosen ? chosen->view.winner->body.text : "", std::move(span)});
}

Result<std::vector<SummaryRequest>> Compactor::due(Now now) {
  std::vector<SummaryRequest> out;
  std::vector<SummaryId> pointless;
  for (const auto& [id, waiting] : jobs_) {
    const FoldJob& job = waiting.job;
    if (job.status == FoldStatus::failed || waiting.dueMs > now.ms) continue;
    WITAN_TRY(span, spanOf(job));
    // Another device has folded it, or more than it, meanwhile.
    if (!span) {
      pointless.push_back(id);
      continue;
    }
    SummaryRequest request{id, job.agentId, job.threadId, job.contractVersion, std::move(span->previous), {}};
    for (const replication::Message* m : span->messages) request.messages.push_back({m->body.kind, m->body.content});
    out.push_back(std::move(request));
  }
  for (const SummaryId& id : pointless) erase(id);
  return out;
}

Result<std::optional<MemoryContext>> Compactor::contextOf(const SummaryId& id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return std::optional<MemoryContext>();
  WITAN_TRY(span, spanOf(found->second.job));
  if (!span) return std::optional<MemoryContext>();
  return std::optional(agents::contextOf(span->previous, std::move(span->messages)));
}

void Compactor::defer(const SummaryId& id, std::int64_t ms, Now now) {
  if (const auto found = jobs_.find(id); found != jobs_.end())
    found->second.dueMs = mutated("forgetFolds") ? kNever : now.ms + ms;
}

Status Compactor::recast(const SummaryId& id, const Summariser& summariser, Now now) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return notFound("no fold " + id.hex() + " waits here");
  FoldJob job = found->second.job;
  erase(id);
  job.contractVersion = summariser.version(), job.attempts = 0, job.status = FoldStatus::waiting;
  job.dueAtMs = 0;
  WITAN_TRY(own, summaryId({job.agentId, job.threadId, job.startMessageId, job.endMessageId, job.contractVersion}));
  job.summaryId = own.value;
  put(job);
  jobs_.insert_or_assign(own, Waiting{std::move(job), now.ms});
  return okStatus();
}

Status Compactor::failed(Waiting& waiting, const std::string& why, Now now) {
  FoldJob& job = waiting.job;
  ++job.attempts;
  job.lastError = why;
  if (job.attempts >= options_.attempts) {
    job.status = FoldStatus::failed;
    job.dueAtMs = now.wallMs();  // since when it waits for a person
  } else {
    const std::int64_t whole =
        std::min(options_.lastBackoffMs, options_.firstBackoffMs << std::min<std::uint64_t>(job.attempts - 1, 20));
    // Devices with the same trouble do not come back together.
    const Hash hash = sha256(concat(toHex(job.summaryId), "|", replica_.device(), "|", job.attempts));
    const std::int64_t after = whole / 2 + (hash[0] << 8 | hash[1]) * (whole / 2) / 65'536;
    waiting.dueMs = mutated("forgetFolds") ? kNever : now.ms + after;
    job.dueAtMs = now.wallMs() + after;
  }
  put(job);
  return okStatus();
}

Status Compactor::answered(const SummaryId& id, const Result<std::string>& text, Now now) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return notFound("no fold " + id.hex() + " waits here");
  if (!text.ok()) return failed(found->second, text.error().message, now);
  if (text->size() > kMaxSummaryBytes)
    return failed(found->second, concat("a summary of ", text->size(), " bytes"), now);
  if (!isUtf8(*text)) return failed(found->second, "a summary that is not UTF-8", now);
  const FoldJob job = found->second.job;
  erase(id);
  return commitSummary(job, *text);
}

Status Compactor::commitSummary(const FoldJob& job, const std::string& text) {
  const SummaryId id{job.summaryId};
  WITAN_TRY(records, space());
  WITAN_TRY(messages, graphOf(job.agentId));
  const replication::MessageGraph& graph = *messages;
  const replication::Message* end = graph.message(job.endMessageId);
  if (end == nullptr) return okStatus();  // it was taken away behind a later summary
  WITAN_TRY(state, agentStateToWrite(*records, job.agentId));
  WITAN_TRY(before, chosenSummary(*records, graph, job.threadId, state.pointers.latestSummaryMessageId));
  if (!isBehind(graph, before, job.endMessageId)) return okStatus();  // another device folded more meanwhile
  std::vector<Write> writes;
  // The first text stays (section 8); another text would only be a conflict.
  WITAN_TRY(versions, records->versions(Kind::summary, id.hex()));
  const replication::SummaryView view = replication::summaryViewOf(id, versions);
  if (!view.winner) {
    const replication::SummaryBody body{job.agentId,         job.threadId, job.startMessageId,         job.endMessageId,
                                        job.contractVersion, text,         replication::nextRank(view)};
    WITAN_TRY(write, replication::recordWrite(id.hex(), body));
    writes.push_back(std::move(write));
  }
  replication::MessageBody message{.id = summaryMessageId(id),
                                   .agentId = job.agentId,
                                   .threadId = job.threadId,
                                   .kind = replication::MessageKind::summary};
  message.parents = {job.endMessageId};
  if (before && before->messageId != message.id) message.parents.push_back(before->messageId);
  message.createdAtMs = end->body.createdAtMs;
  WITAN_TRY(known, records->versions(Kind::message, message.id));
  if (known.empty()) {
    WITAN_TRY(write, replication::recordWrite(message.id, message));
    writes.push_back(std::move(write));
  }
  // Forward only: not if what the pointer names comes after this one.
  const auto& pointer = state.pointers.latestSummaryMessageId;
  if (pointer != message.id && !(pointer && graph.isAncestor(message.id, *pointer))) {
    state.pointers.latestSummaryMessageId = message.id;
    writes.push_back({Kind::agentState, job.agentId, replication::encodeAgentState(state, replica_.writer()), false});
  }
  if (writes.empty()) return okStatus();
  WITAN_DO(replica_.commit(DatabaseName::agents, options_.scope, writes));
  return okStatus();
}

Result<std::size_t> Compactor::run(const Summariser& summariser, Now now) {
  WITAN_TRY(requests, due(now));
  std::erase_if(requests, [of = summariser.version()](const SummaryRequest& one) { return one.contract != of; });
  for (const SummaryRequest& request : requests) WITAN_DO(answered(request.id, summariser.summarise(request), now));
  return requests.size();
}

Status Compactor::retry(const SummaryId& id, Now now) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return notFound("no fold " + id.hex() + " waits here");
  found->second.job.status = FoldStatus::waiting;
  found->second.job.attempts = 0;
  found->second.job.dueAtMs = 0;
  found->second.dueMs = now.ms;
  put(found->second.job);
  return okStatus();
}

std::optional<std::int64_t> Compactor::nextMs() const {
  std::optional<std::int64_t> next;
  for (const auto& [id, waiting] : jobs_)
    if (waiting.job.status == FoldStatus::waiting) next = next ? std::min(*next, waiting.dueMs) : waiting.dueMs;
  return next;
}

}  // namespace witan::agents
