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

namespace {

constexpr std::size_t kStartsARound = 500;  // of one graph: the device does other things, too
constexpr std::size_t kMostLackingTold = 100;
constexpr JsonLimits kBodyLimits{.bytes = replication::kMaxRecordBytes, .depth = 64};

std::string lackingWords(const graph::Runtime::Lacking& one) {
  return concat("the body ", one.digest, " of message ", one.message, " of run ", one.run, " at ", one.node,
                " is lost here");
}

template <class Step>
std::optional<Step> proposedStep(const Request& request) {
  if (request.actionType != Step::name) return std::nullopt;
  const std::string_view words(reinterpret_cast<const char*>(request.action.data()), request.action.size());
  Step step;
  return readMessage(words, step, "action").ok() ? std::optional(std::move(step)) : std::nullopt;
}

}  // namespace

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
    for (auto& [graph, hosted] : shard.graphs) tell(id, hosted, out);
  }
  domainAnswers_.clear();
  outcomes_.clear();
  if (replication::Space* space = bodies_.records()) recordsSeen_ = space->changes();
  return std::exchange(unflushed_, false) && !mutated("graphForgetBody")
             ? replica_.data().database(DatabaseName::agents).flush()
             : okStatus();
}

void GraphRuntime::tell(const std::string& partition, Hosted& hosted, Effects& out) {
  const auto say = [&](const char* kind, const std::string& what) {
    out.notices.push_back({kind, partition, hosted.id + ": " + what});
  };
  const auto stands = [&](const std::string& why) {
    say("graph", why);
    replica_.data().note({"graph", "", concat(hosted.id, ": ", why)});
  };
  if (!hosted.misfit.empty() && !std::exchange(hosted.misfitTold, true)) stands(hosted.misfit);
  if (!std::exchange(hosted.lackingTold, true) && !lackingIn(hosted.id).empty()) {
    say("graphBody", waitsFor(hosted.id));
    std::size_t told = 0;
    for (const auto& [message, one] : hosted.lacking)
      if (++told <= kMostLackingTold)
        replica_.data().note({"graphBody", "", concat(hosted.id, ": ", lackingWords(one))});
  }
  if (!hosted.live || hosted.why.empty()) return;
  hosted.live = false;
  stopped_.emplace(hosted.id, hosted.why);
  stands(hosted.why);
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
    const std::set<std::string> here = come(hosted);
    if (!hosted.live && !here.empty()) {
      WITAN_DO(foldAgain(host, shard, hosted, now));
    } else if (!here.empty()) {
      WITAN_DO(goOn(host, hosted, here, now));
    }
    if (!hosted.live && hosted.why.empty()) WITAN_DO(resume(host, hosted, now));
  }
  return okStatus();
}

// What is here now that a graph waits for.
std::set<std::string> GraphRuntime::come(Hosted& hosted) {
  std::set<std::string> here;
  replication::Space* space = hosted.missing.empty() || stopped_.contains(hosted.id) ? nullptr : bodies_.records();
  if (space == nullptr || std::exchange(hosted.looked, space->changes()) == space->changes()) return here;
  for (const std::string& digest : hosted.missing)
    if (bodies_.has(digest)) here.insert(digest);
  return here;
}

Status GraphRuntime::goOn(PartitionHost& host, Hosted& hosted, const std::set<std::string>& come, Now now) {
  const std::int64_t atMs = clock(host, now);
  std::erase_if(hosted.missing, [&](const std::string& digest) { return come.contains(digest); });
  std::erase_if(hosted.lacking, [&](const auto& one) { return come.contains(one.second.digest); });
  if (hosted.awaited && come.contains(hosted.awaited->digest))
    WITAN_DO(onOutside(host, hosted, *std::exchange(hosted.awaited, std::nullopt), now));
  hosted.runtime->goOn(come, atMs);
  for (const auto& [span, answer] : std::map(hosted.answers)) followAnswer(hosted, answer, atMs);
  again_ = true;
  return enter(host, hosted, now);
}

// It holds up its own message and lane.
void GraphRuntime::lack(Hosted& hosted, graph::Runtime::Lacking message) {
  hosted.missing.insert(message.digest);
  const std::string id = message.message;
  if (hosted.lacking.try_emplace(id, std::move(message)).second) hosted.lackingTold = false;
}

// A refusal needs no body.
void GraphRuntime::followAnswer(Hosted& hosted, const domains::graph::Answer& answer, std::int64_t atMs) {
  const std::string span = answer.span;
  const bool approves = answer.approve || mutated("graphAnyAnswer");
  if (auto lacking = approves ? hosted.runtime->wake(span) : std::nullopt) {
    hosted.answers.insert_or_assign(span, answer);
    return lack(hosted, *std::move(lacking));
  }
  hosted.runtime->answerSpan(span, answer.by, approves, atMs);
  hosted.answers.erase(span);
}

// From the first entry. Not before all that was decided is in the log. O(entries of the partition).
Status GraphRuntime::foldAgain(PartitionHost& host, const Shard& shard, Hosted& hosted, Now now) {
  if (host.partition().hasOpenBatch() || host.durableBatches() != host.ledger().batches()) {
    hosted.looked.reset();
    return okStatus();
  }
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
  // What the owner of that time checked it against may be another's now: each can check the document.
  const auto checked = graph::checkGraph(*source, {}, graph::Answers::nothing);
  const std::string why = domains::graph::misfitOf(checked, hosted.id, said);
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
  if (forget != nullptr && !domains::graph::runIn(host.partition().state(hosted.id), graph::Digest(forget->run))) {
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
  for (graph::Runtime::Lacking& one : hosted.runtime->fill()) lack(hosted, std::move(one));
  const std::int64_t atMs = clock(host, now);
  hosted.live = true;
  WITAN_DO(sweepActivations(hosted));
  hosted.runtime->recover(atMs);
  for (const auto& [span, answer] : std::map(hosted.answers)) followAnswer(hosted, answer, atMs);
  for (const std::string& run : hosted.cancelled) hosted.runtime->cancelRun(run, atMs);
  hosted.cancelled.clear();
  again_ = true;
  return enter(host, hosted, now);
}

// What people and operators have entered.
Status GraphRuntime::onOutside(PartitionHost& host, Hosted& hosted, const Step& step, Now now) {
  const std::int64_t atMs = clock(host, now);
  graph::Runtime& runtime = *hosted.runtime;
  if (const auto* deploy = std::get_if<domains::graph::Deploy>(&step)) {
    hosted.awaited.reset();
    if (!isBorneOut(host, hosted, *deploy)) return okStatus();
    if (const Status deployed = runtime.deploy(bodies_.document(deploy->digest), atMs); !deployed.ok()) {
      wait(hosted, deployed.error().message);
      return okStatus();
    }
    hosted.triggers.deployed(*runtime.deployed(), atMs);
  } else if (const auto* answer = std::get_if<domains::graph::Answer>(&step)) {
    followAnswer(hosted, *answer, atMs);
  } else if (const auto* cancel = std::get_if<domains::graph::Cancel>(&step)) {
    runtime.cancelRun(cancel->run, atMs);
  } else if (const auto* redrive = std::get_if<domains::graph::Redrive>(&step)) {
    const std::string id = domains::graph::redrivenId(redrive->message);
    auto lacking = runtime.wake(redrive->message);
    if (const Status again = runtime.redrive(redrive->run, redrive->message, id, atMs); !again.ok()) {
      hosted.why = "what was to be sent again is not here: " + again.error().message;
      return okStatus();
    }
    if (lacking) lack(hosted, {lacking->run, lacking->node, id, lacking->digest});
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

Result<Request> deployRequest(const kernel::DomainModule& graphs, const graph::Document& document,
                              const json::value& source, std::string operationId) {
  json::object action = parseJson(toJson(domains::graph::deployStep(document))).value().as_object();
  action["type"] = domains::graph::Deploy::name;
  WITAN_TRY(request, proposalRequest(graphs, document.id, "Operator", std::move(operationId), action));
  request.text = canonicalJson(source);
  return request;
}

Status GraphRuntime::vet(const PartitionHost& host, const Request& request) {
  if (request.domain != kGraphDomain || request.kind != RequestKind::propose) return okStatus();
  const kernel::EntityState* state = host.partition().state(request.entity);
  const auto here = [&](const std::string& digest, const char* what) -> Status {
    if (bodies_.has(digest)) return okStatus();
    return unavailable(concat("the body ", digest, " that is to be ", what, " is not on the device of the owner"));
  };
  if (request.actionType == domains::graph::Deploy::name) return vetDeploy(host, request);
  if (const auto answer = proposedStep<domains::graph::Answer>(request)) {
    const auto asked = domains::graph::askedIn(state, graph::Digest(answer->span));
    return asked && asked->digest == graph::Digest(answer->digest) ? here(answer->digest, "answered about")
                                                                   : okStatus();
  }
  if (const auto redrive = proposedStep<domains::graph::Redrive>(request))
    for (const domains::graph::Letter& letter : domains::graph::lettersIn(state, graph::Digest(redrive->run)))
      if (letter.message.id == graph::Digest(redrive->message)) return here(letter.message.digest.hex(), "sent again");
  return okStatus();
}

// The ledger holds what the owner can bear out: with the document, under its own policy, tools and domains.
Status GraphRuntime::vetDeploy(const PartitionHost& host, const Request& request) {
  const auto deploy = proposedStep<domains::graph::Deploy>(request);
  if (!deploy) return okStatus();  // it is refused for that
  const auto now = domains::graph::deployedIn(host.partition().state(request.entity));
  if (now && deploy->version < now->number) return okStatus();  // likewise
  if (request.text.empty())
    return invalid("a graph is deployed with its document: witan graph deploy FILE, or POST /v1/graphs/deploy");
  WITAN_TRY(source, parseJson(request.text, kBodyLimits));
  const bool knows = setup_ != nullptr && setup_->graphEnvironment;
  const graph::Checked checked = graph::checkGraph(source, knows ? setup_->graphEnvironment() : graph::Environment(),
                                                   knows ? graph::Answers::own : graph::Answers::nothing);
  std::string why = domains::graph::misfitOf(checked, request.entity, deploy->said());
  if (why.empty()) why = wrongTriggers(*checked.document, replica_.domains());
  if (!why.empty() && !mutated("graphUnchecked")) return invalid("the owner of the graph may not deploy it: " + why);
  unflushed_ = true;
  return bodies_.keep({std::make_shared<const json::value>(std::move(source))});
}

// What bears the name of an entry begins no run: the ledger would refuse the step, and the runtime go on with it.
RequestRouter::Admission GraphRuntime::again(const PartitionHost& host, const Request& request, Now now) {
  const graph::Digest run(graph::runIdOf(request.entity, request.role, request.reason));
  if (!domains::graph::runIn(host.partition().state(request.entity), run))
    return {std::nullopt, kernel::Outcome::refused,
            concat("operation id \"", request.operationId, "\" already names another act (entry ",
                   host.partition().entryOf(request.operationId), "): give this act an id of its own")};
  meter_.count(request.entity, {clock(host, now), graph::DuplicateArrival{request.role, request.reason}});
  return {std::nullopt, kernel::Outcome::duplicate, "duplicate"};
}

RequestRouter::Admission GraphRuntime::admit(PartitionHost& host, const Request& request, Now now) {
  Hosted* hosted = hostedOf(request.entity);
  if (hosted == nullptr || !hosted->live)
    return {std::nullopt, kernel::Outcome::refused,
            hosted == nullptr || hosted->why.empty() ? "unavailable: the graph does not run yet"
                                                     : "unavailable: the graph stands: " + hosted->why};
  if (!takesRuns(host, *hosted))
    return {std::nullopt, kernel::Outcome::refused, "unavailable: another version is being deployed"};
  if (host.partition().knows(request.operationId)) return again(host, request, now);
  const auto body = parseJson(request.text, kBodyLimits);
  if (!body.ok()) return {std::nullopt, kernel::Outcome::refused, "schema: " + body.error().message};
  domains::graph::Entering entering;
  if (!request.action.empty()) {
    const std::string_view words(reinterpret_cast<const char*>(request.action.data()), request.action.size());
    if (const Status read = readMessage(words, entering, "entering"); !read.ok())
      return {std::nullopt, kernel::Outcome::refused, "limits: " + read.error().message};
  }
  const std::string why(hosted->runtime->admit(request.role, request.reason, *body, clock(host, now), entering.hops));
  graph::Taken taken = hosted->runtime->take();
  for (const graph::Line& notice : taken.notices) meter_.count(request.entity, notice);
  if (!why.empty())
    return {std::nullopt, why == "duplicate" ? kernel::Outcome::duplicate : kernel::Outcome::refused, why};
  std::vector<graph::Body> bodies;
  unflushed_ = true;
  std::vector<Step> steps = domains::graph::stepsOf(taken.entries.at(0), *hosted->runtime, "", bodies);
  std::get<domains::graph::Begin>(steps.at(0)).limits = std::move(entering.limits);
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

Status GraphRuntime::takeTriggers(const PartitionHost& host, Hosted& hosted, Now now) {
  WITAN_TRY(more, hosted.triggers.look(replica_, bodies_.scope()));
  again_ = again_ || more;
  const std::int64_t atMs = clock(host, now);
  const kernel::EntityState* own = mutated("graphEcho") ? nullptr : host.partition().state(hosted.id);
  return hosted.triggers.offer(
      replica_, bodies_.scope(), *hosted.runtime->deployed(), own, atMs,
      [&](const std::string& ingress, const std::string& external, const json::value& body, std::uint64_t hops) {
        if (!takesRuns(host, hosted)) return false;
        const std::string_view why = hosted.runtime->admit(ingress, external, body, atMs, hops);
        if (why == "loop" && hosted.loops.insert(ingress).second)
          replica_.data().note({"graphLoop", "",
                                concat(hosted.id, ": ", ingress, " begins no run by ", external, ": ", graph::kMostHops,
                                       " runs caused each other, which is the most")});
        return why != "backpressure";
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
  hosted.runtime->expire(atMs, [&](const graph::Digest& span) {
    const auto asked = domains::graph::askedIn(host.partition().state(hosted.id), span);
    return asked && asked->answered;
  });
  WITAN_DO(takeTriggers(host, hosted, now));
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
    while (some && domains::graph::runIn(host.partition().state(hosted.id), graph::Digest(run))) {
      Request request = requestOf(host, hosted.id, domains::graph::Forget{run});
      replica_.sign({&request, 1});
      hosted.mine.insert(request.operationId);
      hosted.unconfirmed.emplace(request.operationId, ++hosted.entered);
      some = host.decideAs(request, request, timeOf(host, now), "").outcome == kernel::Outcome::approved;
    }
    // The law saw it end later: once more, a horizon on.
    if (!some)
      hosted.ended.emplace_back(atMs, run);
    else
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
  if (hosted == nullptr) return "";
  if (!hosted->why.empty() || !hosted->misfit.empty()) return hosted->why.empty() ? hosted->misfit : hosted->why;
  const auto lacking = lackingIn(graph);
  if (lacking.empty()) return "";
  return concat(lackingWords(lacking.front()), lacking.size() == 1 ? "" : concat(", and ", lacking.size() - 1, " more"),
                ": restore it, or cancel the run");
}

std::vector<graph::Runtime::Lacking> GraphRuntime::lackingIn(std::string_view graph) const {
  Hosted* hosted = const_cast<GraphRuntime*>(this)->hostedOf(graph);
  if (hosted == nullptr) return {};
  std::vector<graph::Runtime::Lacking> all;
  for (const auto& [message, one] : hosted->lacking)
    if (hosted->runtime->isOpen(one)) all.push_back(one);
  return all;
}

}  // namespace witan::node
