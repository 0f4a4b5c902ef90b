#include "replica/graph_runtime.h"

#include <algorithm>

#include "base/mutant.h"
#include "kernel/record/log_batch.h"
#include "replica/core/partition_host.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"
#include "replication/records/record_write.h"

namespace witan::node {

using domains::graph::Step;
using replication::DatabaseName;
using replication::Kind;

namespace {

constexpr std::size_t kStartsARound = 500;  // of one graph: the device does other things, too
constexpr const char* kBodyMissing = "the body of a message has not come yet";
constexpr JsonLimits kBodyLimits{.bytes = replication::kMaxRecordBytes, .depth = 64};

}  // namespace

// --- bodies

replication::Space* GraphBodies::records() {
  auto space = replica_.database(DatabaseName::agents).space(scope_);
  return space.ok() ? *space : nullptr;
}

Status GraphBodies::keep(const std::vector<graph::Body>& bodies) {
  WITAN_TRY(space, replica_.database(DatabaseName::agents).space(scope_));
  std::vector<replication::Write> writes;
  std::set<std::string> fresh;
  std::size_t bytes = 0;
  const auto commit = [&]() -> Status {
    if (writes.empty()) return okStatus();
    WITAN_DO(replica_.commit(DatabaseName::agents, scope_, writes));
    writes.clear(), bytes = 0;
    return okStatus();
  };
  for (const graph::Body& body : bodies) {
    std::string content = canonicalJson(*body);
    const std::string digest = graph::identityOf(content);
    if (!fresh.insert(digest).second || space->table().find(Kind::graphMessage, digest) != nullptr) continue;
    if (bytes + content.size() > replication::kMaxCommitBytes / 2 || writes.size() == 256) WITAN_DO(commit());
    bytes += content.size();
    WITAN_TRY(write, replication::recordWrite(digest, replication::GraphMessageBody{std::move(content)}));
    writes.push_back(std::move(write));
  }
  return commit();
}

graph::Body GraphBodies::find(const std::string& digest) {
  replication::Space* space = records();
  if (space == nullptr) return nullptr;
  const auto versions = space->versions(Kind::graphMessage, digest);
  if (!versions.ok()) return nullptr;
  for (const replication::Version& version : *versions) {
    if (version.tombstone) continue;
    const auto body = replication::decodeRecord<replication::GraphMessageBody>(version.body);
    if (!body.ok() || graph::identityOf(body->content) != digest) continue;  // a stranger's
    if (auto value = parseJson(body->content, kBodyLimits); value.ok())
      return std::make_shared<const json::value>(*std::move(value));
  }
  return nullptr;
}

bool GraphBodies::has(const std::string& digest) {
  replication::Space* space = records();
  return space != nullptr && space->table().find(Kind::graphMessage, digest) != nullptr;
}

std::shared_ptr<const graph::Document> GraphBodies::document(const std::string& digest) {
  const graph::Body body = find(digest);
  return body == nullptr ? nullptr : graph::readDocument(*body).document;
}

// --- the ledger

GraphRuntime::GraphRuntime(Replica& replica, const AgentSetup* setup)
    : replica_(replica),
      setup_(setup),
      bodies_(replica.data(), setup != nullptr ? setup->options.wake.scope : "main") {}

// It never stands still: where the wall clock is behind the last entry, the steady one goes on from there.
std::int64_t GraphRuntime::clock(const PartitionHost& host, Now now) const {
  const std::int64_t entered = std::max(now.wall, host.partition().latest()).micros / 1000;
  const auto shard = shards_.find(host.id());
  return shard == shards_.end() ? entered : std::max(entered, shard->second.seenMs + now.ms - shard->second.seenAtMs);
}

std::string GraphRuntime::policyEpoch() const {
  return setup_ != nullptr && setup_->policy != nullptr ? setup_->policy->epoch() : "none";
}

graph::Monitor GraphRuntime::monitorOf(const std::string& id) const {
  if (setup_ == nullptr || setup_->policy == nullptr) return {};
  return [policy = setup_->policy, id](const graph::Crossing& crossing, const json::value& body) {
    const agents::PolicyVerdict verdict = policy->crossing(id, crossing.boundary, crossing.operation, body);
    graph::Decision decision{std::string(enumName(verdict.kind)), std::string(enumName(verdict.token)), nullptr};
    if (verdict.kind == agents::VerdictKind::requireHuman) decision.verdict = "require-human";
    // A person approves a body, and a projection is another one.
    if (verdict.kind == agents::VerdictKind::requireHuman && verdict.projected)
      return graph::Decision{"deny", "overshared_payload_blocked", nullptr};
    if (verdict.projected) decision.body = *verdict.projected;
    return decision;
  };
}

void GraphRuntime::reset(Hosted& hosted, std::string why) {
  for (const auto& [span, activity] : hosted.activities) spanAt_.erase(span);
  Hosted fresh;
  fresh.id = hosted.id;
  fresh.runtime = std::make_unique<graph::Runtime>(
      monitorOf(hosted.id), [this, id = hosted.id](const graph::Entry& entry) { meter_.count(id, entry); }, &bodies_);
  fresh.why = std::move(why);
  hosted = std::move(fresh);
}

void GraphRuntime::wait(Hosted& hosted, std::string why) {
  std::set<std::string> missing = std::move(hosted.missing);
  reset(hosted, std::move(why));
  hosted.missing = std::move(missing);
}

Status GraphRuntime::round(Now now, Effects& out) {
  again_ = false;
  if (agents::AgentHost* agents = replica_.agents()) outcomes_ = agents->takeEffectOutcomes();
  for (const auto& [id, host] : replica_.hosts()) {
    if (host->module().signature().domain != kGraphDomain) continue;
    if (!replica_.owns(*host)) {
      if (const auto gone = shards_.find(id); gone != shards_.end()) {
        for (auto& [graph, hosted] : gone->second.graphs) reset(hosted, "");
        shards_.erase(gone);
      }
      continue;
    }
    Shard& shard = shards_[id];
    if (!(shard.epoch == host->epoch())) {
      for (auto& [graph, hosted] : shard.graphs) reset(hosted, "");
      shard = Shard{.epoch = host->epoch()};
      stopped_.clear();
    }
    shard.seenMs = clock(*host, now), shard.seenAtMs = now.ms;
    WITAN_DO(follow(*host, shard, now));
    for (auto& [graph, hosted] : shard.graphs)
      if (hosted.live) WITAN_DO(work(*host, hosted, now));
    for (auto& [graph, hosted] : shard.graphs)
      if (!hosted.misfit.empty() && !std::exchange(hosted.misfitTold, true))
        out.notices.push_back({"graph", id, graph + ": " + hosted.misfit});
    for (auto& [graph, hosted] : shard.graphs)
      if (hosted.live && !hosted.why.empty()) {
        hosted.live = false;
        stopped_.emplace(graph, hosted.why);
        out.notices.push_back({"graph", id, graph + ": " + hosted.why});
      }
  }
  domainAnswers_.clear();
  outcomes_.clear();
  if (replication::Space* space = bodies_.records()) recordsSeen_ = space->changes();
  return std::exchange(unflushed_, false) && !mutated("graphForgetBody")
             ? replica_.data().database(DatabaseName::agents).flush()
             : okStatus();
}

Status GraphRuntime::follow(PartitionHost& host, Shard& shard, Now now) {
  for (; shard.batches < host.durableBatches(); ++shard.batches)
    WITAN_DO(readBatch(host, shard.batches, [&](const kernel::EntryView& entry) -> Status {
      Hosted& hosted = shard.graphs[std::string(entry.entity)];
      if (hosted.runtime == nullptr) {
        hosted.id = entry.entity;
        reset(hosted, "");
      }
      if (hosted.mine.erase(std::string(entry.operationId)) > 0) return okStatus();
      return onEntry(host, hosted, entry, now);
    }));
  // Before this device's own epoch is durable, steps of the last owner may come.
  if (host.durableBatches() <= host.ledger().epochStarts().back()) return okStatus();
  for (auto& [graph, hosted] : shard.graphs) {
    if (!hosted.live && hasCome(hosted)) WITAN_DO(foldAgain(host, shard, hosted, now));
    if (!hosted.live && hosted.why.empty()) WITAN_DO(resume(host, hosted, now));
    if (hosted.live && hosted.awaited && hasCome(hosted)) {
      hosted.missing.clear();
      WITAN_DO(onOutside(host, hosted, *std::exchange(hosted.awaited, std::nullopt), now));
    }
  }
  return okStatus();
}

// Whether something is here now that a graph waits for.
bool GraphRuntime::hasCome(const Hosted& hosted) {
  return !stopped_.contains(hosted.id) && std::ranges::any_of(hosted.missing, [&](const std::string& digest) {
    return bodies_.find(digest) != nullptr;
  });
}

// From the first entry. Not before all that was decided is in the log. O(entries of the partition).
Status GraphRuntime::foldAgain(PartitionHost& host, const Shard& shard, Hosted& hosted, Now now) {
  if (host.partition().hasOpenBatch() || host.durableBatches() != host.ledger().batches()) return okStatus();
  reset(hosted, "");
  for (std::uint64_t batch = 0; batch < shard.batches; ++batch)
    WITAN_DO(readBatch(host, batch, [&](const kernel::EntryView& entry) -> Status {
      return entry.entity == hosted.id ? onEntry(host, hosted, entry, now) : okStatus();
    }));
  return okStatus();
}

Status GraphRuntime::readBatch(const PartitionHost& host, std::uint64_t number,
                               const std::function<Status(const kernel::EntryView&)>& visit) {
  WITAN_TRY(value, host.ledger().batch(number));
  WITAN_TRY(info, kernel::readLogBatch(value, [&](const kernel::LogRecord& record) -> Status {
              if (record.kind != kernel::RecordKind::entry) return okStatus();
              WITAN_TRY(entry, kernel::readEntryView(record.payload));
              return entry.tag == kernel::Tag::approved ? visit(entry) : okStatus();
            }));
  (void)info;
  return okStatus();
}

Status GraphRuntime::onEntry(PartitionHost& host, Hosted& hosted, const kernel::EntryView& entry, Now now) {
  if (!hosted.live && !hosted.why.empty()) return okStatus();
  WITAN_TRY(action, parseJson(entry.action, {.bytes = kernel::kRecordMax, .depth = 64}));
  if (!action.is_object()) return corrupt("the action of an entry is no object");
  WITAN_TRY(step, domains::graph::readStep(std::move(action.get_object())));
  return hosted.live ? onOutside(host, hosted, step, now) : fold(host, hosted, step, entry.time.micros / 1000);
}

// A deployment that its document does not bear out never was one: the version before it goes on, no run begins, and a
// higher version mends it.
bool GraphRuntime::isBorneOut(const PartitionHost& host, Hosted& hosted, const domains::graph::Deploy& deploy) {
  const graph::Body source = bodies_.find(deploy.digest);
  if (source == nullptr) {
    hosted.missing.insert(deploy.digest);
    hosted.awaited = deploy;
    return false;
  }
  const auto said = domains::graph::versionIn(host.partition().state(hosted.id), deploy.version);
  const std::string why = domains::graph::misfitOf(*source, hosted.id, said);
  if (why.empty()) return true;
  hosted.misfit = concat("version ", deploy.version, " is not run: ", why, " (deploy a higher version)");
  hosted.misfitTold = false;
  return false;
}

Status GraphRuntime::fold(const PartitionHost& host, Hosted& hosted, const Step& step, std::int64_t atMs) {
  const auto* deploy = std::get_if<domains::graph::Deploy>(&step);
  if (deploy != nullptr && !isBorneOut(host, hosted, *deploy)) return okStatus();
  const auto* begin = std::get_if<domains::graph::Begin>(&step);
  const std::int64_t runs = hosted.runtime->deployed() == nullptr ? 0 : hosted.runtime->deployed()->version;
  if (begin != nullptr && begin->version != runs) {
    wait(hosted, concat("the document of version ", begin->version, " is not here"));
    return okStatus();
  }
  if (deploy == nullptr && runs == 0) return okStatus();  // of a graph that was never deployed
  const domains::graph::FoldSources sources{[&](const std::string& digest) {
                                              auto document = bodies_.document(digest);
                                              if (document == nullptr) hosted.missing.insert(digest);
                                              return document;
                                            },
                                            graph::Runtime::unread};
  const auto lines = domains::graph::linesOf(step, atMs, *hosted.runtime, sources);
  if (!lines.ok()) {
    wait(hosted, lines.error().message);
    return okStatus();
  }
  hosted.runtime->apply(*lines);
  limit(hosted, step, atMs);
  countSpent(hosted, step);
  if (std::holds_alternative<domains::graph::Deploy>(step)) hosted.triggers.deployed(*hosted.runtime->deployed(), atMs);
  if (const auto* answer = std::get_if<domains::graph::Answer>(&step)) hosted.answers.emplace(answer->span, *answer);
  if (const auto* cancel = std::get_if<domains::graph::Cancel>(&step)) hosted.cancelled.insert(cancel->run);
  if (const auto* end = std::get_if<domains::graph::End>(&step)) {
    hosted.cancelled.erase(end->run);
    hosted.ended.emplace_back(atMs, end->run);
  }
  const auto* forget = std::get_if<domains::graph::Forget>(&step);
  if (forget != nullptr && !domains::graph::runIn(host.partition().state(hosted.id), forget->run)) {
    std::erase_if(hosted.ended, [&](const auto& ended) { return ended.second == forget->run; });
    forgetRun(hosted, forget->run);
  }
  if (const auto* finish = std::get_if<domains::graph::Finish>(&step)) hosted.answers.erase(finish->span);
  if (const auto* failed = std::get_if<domains::graph::Fail>(&step)) hosted.answers.erase(failed->span);
  return okStatus();
}

// All entries are folded: what a crash or the last owner left open goes on.
Status GraphRuntime::resume(PartitionHost& host, Hosted& hosted, Now now) {
  if (hosted.runtime->deployed() == nullptr || stopped_.contains(hosted.id)) return okStatus();
  std::vector<std::string> missing = hosted.runtime->fill();
  for (const auto& [span, answer] : hosted.answers)
    if (auto digest = hosted.runtime->wake(span)) missing.push_back(*std::move(digest));
  for (std::string& digest : missing) hosted.missing.insert(std::move(digest));
  if (!missing.empty()) {
    wait(hosted, kBodyMissing);
    return okStatus();
  }
  const std::int64_t atMs = clock(host, now);
  hosted.live = true;
  WITAN_DO(sweepActivations(hosted));
  hosted.runtime->recover(atMs);
  for (const auto& [span, answer] : hosted.answers) hosted.runtime->answerSpan(span, answer.by, answer.approve, atMs);
  for (const std::string& run : hosted.cancelled) hosted.runtime->cancelRun(run, atMs);
  hosted.answers.clear();
  hosted.cancelled.clear();
  again_ = true;
  return enter(host, hosted, now);
}

// What people and operators have entered.
Status GraphRuntime::onOutside(PartitionHost& host, Hosted& hosted, const Step& step, Now now) {
  const std::int64_t atMs = clock(host, now);
  graph::Runtime& runtime = *hosted.runtime;
  std::optional<std::string> missing;
  if (const auto* answer = std::get_if<domains::graph::Answer>(&step)) missing = runtime.wake(answer->span);
  if (const auto* redrive = std::get_if<domains::graph::Redrive>(&step)) missing = runtime.wake(redrive->message);
  if (missing) {
    hosted.missing.insert(*std::move(missing));
    wait(hosted, kBodyMissing);
    return okStatus();
  }
  if (const auto* deploy = std::get_if<domains::graph::Deploy>(&step)) {
    hosted.awaited.reset();
    if (!isBorneOut(host, hosted, *deploy)) return okStatus();
    if (const Status deployed = runtime.deploy(bodies_.document(deploy->digest), atMs); !deployed.ok()) {
      wait(hosted, deployed.error().message);
      return okStatus();
    }
    hosted.triggers.deployed(*runtime.deployed(), atMs);
  } else if (const auto* answer = std::get_if<domains::graph::Answer>(&step)) {
    runtime.answerSpan(answer->span, answer->by, answer->approve || mutated("graphAnyAnswer"), atMs);
  } else if (const auto* cancel = std::get_if<domains::graph::Cancel>(&step)) {
    runtime.cancelRun(cancel->run, atMs);
  } else if (const auto* redrive = std::get_if<domains::graph::Redrive>(&step)) {
    const Status again =
        runtime.redrive(redrive->run, redrive->message, domains::graph::redrivenId(redrive->message), atMs);
    if (!again.ok()) {
      hosted.why = "what was to be sent again is not here: " + again.error().message;
      return okStatus();
    }
    limit(hosted, step, atMs);
    std::erase_if(hosted.ended, [&](const auto& ended) { return ended.second == redrive->run; });
  } else {
    hosted.why = "another wrote a step of its runtime";
    return okStatus();
  }
  again_ = true;
  return enter(host, hosted, now);
}

Request GraphRuntime::requestOf(const PartitionHost& host, const std::string& graph, const Step& step,
                                std::size_t ahead) const {
  Request request;
  request.domain = kGraphDomain;
  request.entity = graph;
  request.role = "Runtime";
  request.device = replica_.device();
  WordWriter words;
  std::visit(
      [&](const auto& one) {
        request.actionType = one.name;
        const std::string_view bytes = words.message(one);
        request.action.assign(bytes.begin(), bytes.end());
      },
      step);
  request.operationId = graph::identityOf(concat(
      "v1|graph-step|", graph, "|", host.partition().size() + ahead, "|", replica_.ownerName(), "|", request.actionType,
      "|", std::string_view(reinterpret_cast<const char*>(request.action.data()), request.action.size())));
  return request;
}

// Makes the entries of the runtime durable with this round. A step that a law rejects stops the graph: then this build
// does not keep the laws, and nothing of it may go on.
Status GraphRuntime::enter(PartitionHost& host, Hosted& hosted, Now now) {
  graph::Taken taken = hosted.runtime->take();
  std::vector<graph::Body> bodies;
  std::vector<Step> steps;
  const std::string policy = policyEpoch();
  for (const graph::Line& notice : taken.notices) meter_.count(hosted.id, notice);
  for (const graph::Entry& entry : taken.entries) {
    for (const graph::Line& line : entry)
      if (const auto* ended = std::get_if<graph::Ended>(&line.fact)) hosted.ended.emplace_back(line.atMs, ended->run);
    std::vector<Step> made = domains::graph::stepsOf(entry, *hosted.runtime, policy, bodies);
    std::move(made.begin(), made.end(), std::back_inserter(steps));
  }
  for (Step& step : steps) {
    const auto fill = [&](auto& ended) {
      const auto used = hosted.usages.find(ended.span);
      if (used == hosted.usages.end()) return;
      Amounts& spent = used->second.spent;
      ended.tokens = spent["tokens"], ended.steps = spent["steps"], ended.seconds = spent["seconds"];
      if constexpr (requires { ended.model; }) ended.model = used->second.model;
    };
    if (auto* finish = std::get_if<domains::graph::Finish>(&step)) fill(*finish);
    if (auto* fail = std::get_if<domains::graph::Fail>(&step)) fill(*fail);
    countSpent(hosted, step);
  }
  hosted.usages.clear();
  WITAN_DO(bodies_.keep(bodies));
  unflushed_ = unflushed_ || !bodies.empty();
  std::vector<Request> requests;
  for (const Step& step : steps) requests.push_back(requestOf(host, hosted.id, step, requests.size()));
  replica_.sign(requests);
  for (const Request& request : requests) {
    hosted.mine.insert(request.operationId);
    hosted.unconfirmed.emplace(request.operationId, ++hosted.entered);
    const kernel::Decision decision = host.decideAs(request, request, timeOf(host, now), "");
    if (decision.outcome == kernel::Outcome::approved) continue;
    hosted.why = "a step was not taken: " + decision.invariant + " " + decision.message;
    return okStatus();
  }
  if (!taken.work.empty() || !taken.undos.empty())
    hosted.releases.push_back({hosted.entered, std::move(taken.work), std::move(taken.undos)});
  return okStatus();
}

RequestRouter::Admission GraphRuntime::admit(PartitionHost& host, const Request& request, Now now) {
  Hosted* hosted = hostedOf(request.entity);
  if (hosted == nullptr || !hosted->live)
    return {std::nullopt, kernel::Outcome::refused, "unavailable: the graph does not run yet"};
  if (!takesRuns(host, *hosted))
    return {std::nullopt, kernel::Outcome::refused, "unavailable: another version is being deployed"};
  const auto body = parseJson(request.text, kBodyLimits);
  if (!body.ok()) return {std::nullopt, kernel::Outcome::refused, "schema: " + body.error().message};
  std::optional<domains::graph::Limits> limits;
  if (!request.action.empty()) {
    const std::string_view words(reinterpret_cast<const char*>(request.action.data()), request.action.size());
    if (const Status read = readMessage(words, limits.emplace(), "limits"); !read.ok())
      return {std::nullopt, kernel::Outcome::refused, "limits: " + read.error().message};
  }
  const std::string why(hosted->runtime->admit(request.role, request.reason, *body, clock(host, now)));
  graph::Taken taken = hosted->runtime->take();
  for (const graph::Line& notice : taken.notices) meter_.count(request.entity, notice);
  if (!why.empty())
    return {std::nullopt, why == "duplicate" ? kernel::Outcome::duplicate : kernel::Outcome::refused, why};
  std::vector<graph::Body> bodies;
  unflushed_ = true;
  std::vector<Step> steps = domains::graph::stepsOf(taken.entries.at(0), *hosted->runtime, "", bodies);
  std::get<domains::graph::Begin>(steps.at(0)).limits = std::move(limits);
  limit(*hosted, steps.at(0), clock(host, now));
  if (const Status kept = bodies_.keep(bodies); !kept.ok()) {
    hosted->why = kept.error().message;
    return {std::nullopt, kernel::Outcome::refused, kept.error().message};
  }
  Request step = requestOf(host, request.entity, steps.at(0));
  step.operationId = request.operationId;
  step.agent = request.device;  // the step is this device's, for the one who asked
  replica_.sign({&step, 1});
  hosted->mine.insert(step.operationId);
  again_ = true;
  return {std::move(step), kernel::Outcome::approved, ""};
}

// What was deployed counts at once in the ledger, and for the runtime when it is durable.
bool GraphRuntime::takesRuns(const PartitionHost& host, const Hosted& hosted) {
  const auto deployed = domains::graph::deployedIn(host.partition().state(hosted.id));
  if (mutated("graphOldVersion")) return true;
  return deployed && deployed->number == hosted.runtime->deployed()->version;
}

Status GraphRuntime::takeTriggers(const PartitionHost& host, Hosted& hosted, std::int64_t atMs) {
  WITAN_TRY(more, hosted.triggers.look(replica_, bodies_.scope()));
  again_ = again_ || more;
  return hosted.triggers.offer(replica_, bodies_.scope(), *hosted.runtime->deployed(), atMs,
                               [&](const std::string& ingress, const std::string& external, const json::value& body) {
                                 return takesRuns(host, hosted) &&
                                        hosted.runtime->admit(ingress, external, body, atMs) != "backpressure";
                               });
}

// --- one round of a graph

Status GraphRuntime::work(PartitionHost& host, Hosted& hosted, Now now) {
  const std::int64_t atMs = clock(host, now);
  WITAN_DO(startHeld(hosted, atMs, now));  // before others end: what those spent is known when it is entered
  WITAN_DO(releaseDue(host, hosted, now));
  takeResults(hosted, atMs);
  WITAN_DO(pollAgents(hosted, atMs));
  pollNested(hosted, atMs);
  for (const auto& [span, activity] : hosted.activities)
    if (activity.frozen) hosted.runtime->extend(span, atMs);
  hosted.runtime->expire(atMs);
  WITAN_DO(takeTriggers(host, hosted, atMs));
  if (hosted.runtime->dispatch(atMs, kStartsARound)) again_ = true;
  WITAN_DO(takeBack(hosted));
  WITAN_DO(forget(host, hosted, now));
  return enter(host, hosted, now);
}

Status GraphRuntime::releaseDue(PartitionHost& host, Hosted& hosted, Now now) {
  while (!hosted.releases.empty() && hosted.releases.front().after <= hosted.confirmed) {
    const Release release = std::move(hosted.releases.front());
    hosted.releases.pop_front();
    for (const graph::Work& work : release.work) WITAN_DO(start(hosted, work, clock(host, now), now));
    for (const graph::Undo& one : release.undos) undo(hosted, one, now);
  }
  return okStatus();
}

// Nothing asks for an ended run after the horizon.
Status GraphRuntime::forget(PartitionHost& host, Hosted& hosted, Now now) {
  const std::int64_t atMs = clock(host, now);
  while (!hosted.ended.empty() && atMs - hosted.ended.front().first > hosted.runtime->horizonMs()) {
    const std::string run = hosted.ended.front().second;
    hosted.ended.pop_front();
    bool some = true;
    while (some && domains::graph::runIn(host.partition().state(hosted.id), run)) {
      Request request = requestOf(host, hosted.id, domains::graph::Forget{run});
      replica_.sign({&request, 1});
      hosted.mine.insert(request.operationId);
      hosted.unconfirmed.emplace(request.operationId, ++hosted.entered);
      some = host.decideAs(request, request, timeOf(host, now), "").outcome == kernel::Outcome::approved;
    }
    if (!some) continue;
    forgetRun(hosted, run);
  }
  return okStatus();
}

bool GraphRuntime::take(const Answered& answered, Now) {
  const std::string& operation = answered.answer.operationId;
  if (const auto span = spanAt_.find(operation); span != spanAt_.end()) {
    domainAnswers_.emplace_back(operation, answered.answer);
    again_ = true;
    return true;
  }
  for (auto& [id, shard] : shards_)
    for (auto& [graph, hosted] : shard.graphs)
      if (const auto step = hosted.unconfirmed.find(operation); step != hosted.unconfirmed.end()) {
        hosted.confirmed = std::max(hosted.confirmed, step->second);
        hosted.unconfirmed.erase(step);
        if (!hosted.releases.empty()) again_ = true;
        return true;
      }
  return false;
}

void GraphRuntime::frozen(const Answer& answer) {
  const auto at = spanAt_.find(answer.operationId);
  Hosted* hosted = at == spanAt_.end() ? nullptr : hostedOf(at->second);
  if (hosted == nullptr) return;
  if (const auto activity = hosted->activities.find(at->first); activity != hosted->activities.end())
    activity->second.frozen = true;
}

std::optional<std::int64_t> GraphRuntime::nextMs(Now now) const {
  if (again_) return now.ms;
  std::optional<std::int64_t> next;
  for (const auto& [id, shard] : shards_) {
    const auto host = replica_.hosts().find(id);
    if (host == replica_.hosts().end()) continue;
    if (shard.batches != host->second->durableBatches()) return now.ms;
    const std::int64_t atMs = clock(*host->second, now);
    for (const auto& [graph, hosted] : shard.graphs)
      for (const auto due : {hosted.live ? hosted.runtime->due() : std::nullopt, hosted.triggers.nextMs(atMs)})
        if (hosted.live && due) {
          const std::int64_t wait = std::max<std::int64_t>(0, *due - atMs);
          next = std::min(next.value_or(now.ms + wait), now.ms + wait);
        }
  }
  return next;
}

bool GraphRuntime::quiet() const {
  if (again_) return false;
  for (const auto& [id, shard] : shards_)
    for (const auto& [graph, hosted] : shard.graphs)
      if (!hosted.unconfirmed.empty() || !hosted.releases.empty() || !hosted.activities.empty()) return false;
  return true;
}

GraphRuntime::Hosted* GraphRuntime::hostedOf(std::string_view graph) {
  const auto shard = shards_.find(replica_.partitionFor(kGraphDomain, graph));
  if (shard == shards_.end()) return nullptr;
  const auto at = shard->second.graphs.find(std::string(graph));
  return at == shard->second.graphs.end() ? nullptr : &at->second;
}

const graph::Runtime* GraphRuntime::runtime(std::string_view graph) const {
  Hosted* hosted = const_cast<GraphRuntime*>(this)->hostedOf(graph);
  return hosted != nullptr && hosted->live ? hosted->runtime.get() : nullptr;
}

std::string GraphRuntime::waitsFor(std::string_view graph) const {
  Hosted* hosted = const_cast<GraphRuntime*>(this)->hostedOf(graph);
  return hosted == nullptr ? "" : hosted->why.empty() ? hosted->misfit : hosted->why;
}

}  // namespace witan::node
