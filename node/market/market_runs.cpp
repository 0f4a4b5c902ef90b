#include "node/market/market_runs.h"

#include <algorithm>
#include <set>

#include "agents/episode/transcript.h"
#include "agents/wake/wake_job.h"
#include "base/quote.h"
#include "kernel/record/checkpoint.h"
#include "node/data_dir/node_dir.h"
#include "node/ledgers/ledger_heads.h"
#include "node/ledgers/ledger_reader.h"
#include "program/durable_file.h"
#include "replica/core/partition_host.h"
#include "replica/graph_runtime.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

using agents::episode::EntryKind;
using domains::graph::Deliver;
using market::Moment;
using market::RunRequest;
using market::RunResult;

constexpr std::string_view kEvidenceDomain = "evidence", kStatements = "statements";
constexpr std::string_view kHeadRow = "m/head";  // the newest head that the log's key has signed: "SIZE ROOT"
constexpr std::int64_t kAskMs = 10'000;
constexpr std::size_t kMostSteps = 100'000;  // of one run
constexpr const char* kRecordScope = "main";

struct EvidenceFile {
  std::string_view name, text;
};
constexpr EvidenceFile kEvidenceFiles[] = {
#include "node/market/evidence.inc"
};

}  // namespace

Status installEvidenceDomain(const std::filesystem::path& dir) {
  const std::filesystem::path file = ruleFilePath(dir, kEvidenceDomain);
  WITAN_TRY(text, readSmallFile(file, 1 << 20));
  if (text && *text == kEvidenceFiles[0].text) return okStatus();
  if (text)
    return conflict(file.string() + " holds another domain than the market's",
                    "rename that domain: the market keeps its statements in one of this name");
  WITAN_DO(makeFolder(file.parent_path()));
  return replaceFile(file, kEvidenceFiles[0].text, 0644);
}

market::Model marketModelOf(const ToolConfig& tool) {
  return {market::Word(tool.model), market::jsonDigest(json::object{
                                        {"format", tool.format}, {"model", tool.model}, {"provider", tool.provider}})};
}

// ---- runs

std::optional<MarketRuns::Deployed> MarketRuns::deployed(const std::string& graph) {
  const PartitionHost* host = replica_.host(replica_.partitionFor(kGraphDomain, graph));
  const auto version = host == nullptr ? std::nullopt : domains::graph::deployedIn(host->partition().state(graph));
  if (!version) return std::nullopt;
  Deployed found{{market::Word(graph), market::Natural(version->number), market::Hex(version->digest)}, nullptr};
  found.document = GraphBodies(replica_.data(), kRecordScope).document(version->digest);
  if (found.document == nullptr) return std::nullopt;
  return found;
}

std::string MarketRuns::flawOfSold(const graph::Document& document) {
  for (const graph::Node& node : document.nodes)
    if (node.kind == graph::NodeKind::subgraph)
      return concat("node ", node.id, " runs another graph, whose records no transcript has");
  return {};
}

// Evidence that says so does not verify where no model ran; then the call is declined.
void MarketRuns::fail(const RunRequest& request, const std::string& why, Moment now) {
  events_.failed(concat("no run for ", request.externalId, ": ", why));
  RunResult result;
  result.outcome = market::RunOutcome::failed;
  result.startedAt = result.endedAt = now;
  events_.ended(request.externalId, result);
}

void MarketRuns::start(const RunRequest& request, Moment now) {
  if (running_.contains(request.externalId)) return;
  const auto found = deployed(request.capability.graph);
  if (!found || found->capability != request.capability)
    return fail(request, concat("graph ", request.capability.graph, " is not deployed as it was sold"), now);
  if (policyEpoch_() != request.policyEpoch) return fail(request, "the policy is not the one it was sold under", now);
  const auto& nodes = found->document->nodes;
  auto ingress = std::ranges::find_if(nodes, [](const graph::Node& node) {
    return node.kind == graph::NodeKind::ingress && node.trigger &&
           node.trigger->source == graph::TriggerSource::market;
  });
  if (ingress == nodes.end()) ingress = std::ranges::find(nodes, graph::NodeKind::ingress, &graph::Node::kind);
  if (ingress == nodes.end()) return fail(request, "the graph has no ingress", now);
  if (const std::string flaw = flawOfSold(*found->document); !flaw.empty()) return fail(request, flaw, now);
  Request message = ingressRequest(request.capability.graph, ingress->id, request.externalId,
                                   "market-run:" + toHex(sha256(request.externalId)).substr(0, 32),
                                   canonicalJson(market::membersOf(request.disclosures)));
  const auto amount = [](market::Natural most) {
    return std::int64_t(std::min(most, market::Natural(std::numeric_limits<std::int64_t>::max())));
  };
  const market::Budget& most = request.budget;
  enterWith(message, {domains::graph::Limits{amount(most.steps),
                                             amount(most.tokens),
                                             amount(most.seconds),
                                             {request.locales.begin(), request.locales.end()}}});
  Begun begun{request, graph::runIdOf(request.capability.graph, ingress->id, request.externalId)};
  (void)ask_(std::move(message), kAskMs, [self = self_, begun = std::move(begun), now](const Result<Answer>& answer) {
    if (*self != nullptr && answer.ok()) (*self)->onBegun(begun, *answer, now);
  });
}

void MarketRuns::onBegun(const Begun& begun, const Answer& answer, Moment now) {
  const RunRequest& request = begun.request;
  if (answer.kind != AnswerKind::decided) return;
  using kernel::Outcome;
  if (answer.outcome == Outcome::approved || answer.outcome == Outcome::duplicate) {
    running_[request.externalId] = begun;
    return poll();
  }
  const bool passes = answer.message == "backpressure" || answer.message.starts_with("unavailable");
  if (!passes) fail(request, answer.message, now);
}

void MarketRuns::poll() {
  std::vector<std::pair<std::string, RunResult>> ended;
  for (const auto& [external, begun] : running_) {
    const std::string graph = begun.request.capability.graph;
    const PartitionHost* host = replica_.host(replica_.partitionFor(kGraphDomain, graph));
    if (host == nullptr || !host->showsLog()) continue;
    const auto run = domains::graph::runIn(host->partition().state(graph), graph::Digest(begun.run));
    if (run && run->status != "running")
      ended.emplace_back(external, resultOf(begun.request, *host, run->id.hex(), run->status == "completed"));
  }
  for (const auto& [external, result] : ended) {
    running_.erase(external);
    events_.ended(external, result);
  }
}

// ---- transcripts

struct MarketRuns::Transcript {
  std::string policyEpoch;
  std::vector<std::string> graphLocales;
  json::array records;
  std::set<std::string> locales;
  std::set<market::Model> models;
  market::Budget usage;

  void add(const char* kind, json::object members) {
    members["n"] = std::int64_t(records.size());
    members["kind"] = kind;
    members["policyEpoch"] = policyEpoch;
    records.emplace_back(std::move(members));
  }
  json::array localesOf(const ToolConfig* tool) {
    const std::vector<std::string>& of = tool == nullptr || tool->locales.empty() ? graphLocales : tool->locales;
    const std::set<std::string> sorted(of.begin(), of.end());
    locales.insert(sorted.begin(), sorted.end());
    ++usage.steps;
    return json::array(sorted.begin(), sorted.end());
  }
};

const ToolConfig* MarketRuns::toolOf(const std::string& operation) const {
  const std::string name = operation.substr(0, operation.rfind('.'));
  const auto at = std::ranges::find(tools_, name, &ToolConfig::name);
  return at == tools_.end() ? nullptr : &*at;
}

// Digests of what an agent asked for and got. A look that got no answer is none of a model.
void MarketRuns::addEpisode(Transcript& transcript, const graph::Node& node, const Deliver& step) {
  replication::Space* space = GraphBodies(replica_.data(), kRecordScope).records();
  const auto key = graphRunKey(node.name, step.span, step.attempt);
  if (space == nullptr || !key.ok()) return;
  const auto view = agents::runView(*space, *key);
  if (!view.ok() || !view->run) return;
  const auto rows =
      agents::episode::readTranscript(*space, *key, std::string(replication::deviceOf(view->run->dot.host)));
  if (!rows.ok()) return;
  std::map<std::string, json::object> asked;  // by span
  for (const auto& row : *rows) {
    const auto entry = agents::episode::parseEntry(row.message.content);
    if (!entry.ok()) continue;
    const json::object& body = entry->body;
    const std::string own = market::textOf(body, "span");  // of this episode
    const std::string span = concat(step.span.substr(0, 16), "/", step.attempt, "/", own);
    if (entry->kind == EntryKind::look) asked[own] = body;
    if (entry->kind == EntryKind::intended) {
      const std::string tool = market::textOf(body, "tool");
      transcript.add("act", {{"span", span},
                             {"tool", tool},
                             {"input", market::textOf(body, "input")},
                             {"locales", transcript.localesOf(toolOf(tool))}});
    }
    if (entry->kind == EntryKind::outcome)
      transcript.add("outcome", {{"span", span},
                                 {"result", market::textOf(body, "outcome")},
                                 {"output", market::jsonDigest(body.at("result"))}});
    if (entry->kind != EntryKind::observation || !asked.contains(own)) continue;
    const json::object& look = asked.at(own);
    const std::string name = market::textOf(look, "tool");
    const ToolConfig* tool = toolOf(name);
    const json::value* content = body.if_contains("content");
    json::object record{{"span", span},
                        {"input", market::textOf(look, "input")},
                        {"output", market::jsonDigest(content == nullptr ? body.at("error") : *content)},
                        {"locales", transcript.localesOf(tool)}};
    if (tool != nullptr && tool->kind == "model" && content != nullptr) {
      const market::Model model = marketModelOf(*tool);
      const std::int64_t tokens =
          std::max(market::numberOf(body, "tokens").value_or(0), market::numberOf(look, "tokens").value_or(0));
      transcript.models.insert(model);
      transcript.usage.tokens += market::Natural(tokens);
      record["model"] = parseJson(toJson(model)).value();
      record["tokens"] = tokens;
      transcript.add("model", std::move(record));
    } else {
      record["tool"] = name;
      transcript.add("look", std::move(record));
    }
  }
}

// O(entries since the run began).
RunResult MarketRuns::resultOf(const RunRequest& request, const PartitionHost& host, const std::string& run,
                               bool completed) {
  const std::string graph = request.capability.graph;
  Transcript transcript{policyEpoch_(), {}, {}, {}, {}, {}};
  GraphBodies bodies(replica_.data(), kRecordScope);
  const auto document = bodies.document(request.capability.digest);
  if (document != nullptr)
    std::ranges::copy_if(document->locales, std::back_inserter(transcript.graphLocales),
                         [&](const std::string& tag) { return std::ranges::count(request.locales, tag) > 0; });
  transcript.add("begin", {{"input", market::jsonDigest(market::commitmentTo(request.disclosures))}});

  RunResult result;
  std::optional<Moment> first;
  const auto takes = [&](const StoredEntry& entry) {
    return entry.entry.entity == graph && entry.entry.tag == kernel::Tag::approved &&
           entry.entry.action.find(run) != std::string_view::npos;
  };
  (void)visitNewest(host.rows(), kMostSteps, takes, [&](const StoredEntry& entry) {
    result.endedAt = market::momentOf(entry.entry.time);
    if (!first) first = result.endedAt;
    const auto action = parseJson(entry.entry.action, {.bytes = kernel::kRecordMax, .depth = 64});
    const auto step = action.ok() && action->is_object() ? domains::graph::readStep(action->get_object())
                                                         : Result<domains::graph::Step>(invalid("no step"));
    const Deliver* deliver = step.ok() ? std::get_if<Deliver>(&*step) : nullptr;
    const graph::Node* node = deliver == nullptr || document == nullptr ? nullptr : document->node(deliver->node);
    if (node != nullptr && node->kind == graph::NodeKind::agent) addEpisode(transcript, *node, *deliver);
  });
  result.startedAt = first.value_or(result.endedAt);

  json::array outputs;
  for (const domains::graph::Output& one : domains::graph::outputsIn(host.partition().state(graph), graph::Digest(run)))
    if (const graph::Body body = bodies.find(one.digest)) outputs.push_back(*body);
  if (!outputs.empty()) result.output = outputs.size() == 1 ? outputs.front() : json::value(outputs);
  transcript.add("end", {{"output", market::jsonDigest(result.output)}});

  if (transcript.locales.empty()) transcript.locales = {transcript.graphLocales.begin(), transcript.graphLocales.end()};
  for (const std::string& one : transcript.locales) result.locales.emplace_back(one);
  result.models.assign(transcript.models.begin(), transcript.models.end());
  result.usage = transcript.usage;
  result.usage.seconds = market::Natural(std::max<std::int64_t>(0, result.endedAt.seconds - result.startedAt.seconds));
  result.transcript = std::move(transcript.records);
  const bool good = completed && !outputs.empty();
  // A run that its order has ended was looked at a moment later.
  if (!good) result.usage.seconds = std::min(result.usage.seconds, request.budget.seconds);
  result.outcome = good ? market::RunOutcome::completed : market::RunOutcome::failed;
  result.charge = good ? request.price : 0;
  return result;
}

// ---- the ledger of statements

void MarketRuns::record(const market::RecordRequest& request, const MarketIdentity& identity) {
  const kernel::DomainModule* module = replica_.moduleOf(kEvidenceDomain);
  const PartitionHost* host = replica_.host(replica_.partitionFor(kEvidenceDomain, kStatements));
  if (module == nullptr || host == nullptr) return events_.failed("this node has no ledger of statements");
  const auto enter = [self = self_, module, request, &identity] {
    if (*self == nullptr) return;
    auto proposal =
        proposalRequest(*module, std::string(kStatements), "Seller", request.operationId,
                        json::object{{"type", "Record"},
                                     {"id", request.externalId},
                                     {"statement", request.operationId.substr(request.operationId.find(':') + 1)}});
    if (!proposal.ok()) return (*self)->events_.failed(proposal.error().message);
    (void)(*self)->ask_(*std::move(proposal), kAskMs, [self, request, &identity](const Result<Answer>& answer) {
      if (*self == nullptr || !answer.ok() || answer->kind != AnswerKind::decided) return;
      const bool again = answer->outcome == kernel::Outcome::duplicate;
      if ((again ? answer->recorded : answer->outcome) != kernel::Outcome::approved)
        return (*self)->events_.failed(concat("the statement of ", request.externalId,
                                              " is not recorded: ", answer->invariant, " ", answer->message));
      const auto receipt = (*self)->receiptOf(answer->seq, identity);
      if (!receipt.ok()) return (*self)->events_.failed("no receipt: " + receipt.error().message);
      (*self)->events_.recorded(request.externalId, *receipt);
    });
  };
  if (host->partition().state(kStatements) != nullptr) return enter();
  (void)ask_(initRequest(*module, std::string(kStatements), "market-statements", json::object{}), kAskMs,
             [enter](const Result<Answer>& answer) {
               if (answer.ok()) enter();
             });
}

// A head that contradicts an earlier one would be proof against this organisation: a ledger that went back signs
// nothing.
Status MarketRuns::permitHead(std::uint64_t size, const std::string& root) {
  WITAN_TRY(known, store_.get(kHeadRow));
  const std::string head = concat(size, " ", root);
  if (known == head) return okStatus();
  if (known && std::strtoull(known->c_str(), nullptr, 10) >= size)
    return conflict(concat("the ledger of statements has ", size, " entries and had ", *known));
  store::WriteBatch batch;
  batch.put(kHeadRow, head);
  return store_.write(batch);  // durable with the desk's row, before the head leaves
}

Result<json::value> MarketRuns::receiptOf(std::uint64_t seq, const MarketIdentity& identity) {
  const std::string partition = replica_.partitionFor(kEvidenceDomain, kStatements);
  WITAN_TRY(proven, proveEntry(replica_, partition, seq, 0, 0));
  WITAN_DO(permitHead(proven.size, proven.root));
  WITAN_TRY(root, hashFromHex(proven.root));
  WITAN_TRY(note, kernel::signCheckpoint({identity.logName, proven.size, root, {}}, identity.log));
  json::array path;
  for (const std::string& hex : proven.path) {
    WITAN_TRY(hash, fromHex(hex));
    path.emplace_back(toBase64(hash));
  }
  return json::value(json::object{
      {"entry", proven.bytes}, {"index", std::int64_t(proven.index)}, {"path", std::move(path)}, {"checkpoint", note}});
}

}  // namespace witan::node
