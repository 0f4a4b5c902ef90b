#include "node/market/market_nodes.h"

#include <algorithm>

#include "agents/episode/transcript.h"
#include "agents/wake/wake_job.h"
#include "base/identity.h"
#include "node/market/market_host.h"
#include "replica/graph_runtime.h"
#include "replication/records/record_write.h"

namespace witan::node {

using agents::episode::EntryKind;
using replication::ActivationBody;
using replication::WakeStatus;

namespace {

constexpr const char* kScope = "main";

// What the node of the graph says about its contracts; what it does not say is not asked for.
struct Terms {
  Omittable<std::int64_t> maxPerCall;
  Omittable<std::string> currency;
  Omittable<std::vector<std::string>> sellers;
  WITAN_MEMBERS(Terms, maxPerCall, currency, sellers)
};

std::string callOf(const std::string& span) { return "G-" + span.substr(0, 32); }

}  // namespace

struct MarketNodes::Wish {
  std::string capability;
  Terms terms;
};

bool MarketNodes::poll(Now now) {
  replication::Space* records = GraphBodies(replica_.data(), kScope).records();
  if (records == nullptr) return false;
  bool wrote = false;
  for (const std::string& key : records->keys(replication::Kind::activation)) {
    const auto versions = records->versions(replication::Kind::activation, key);
    if (!versions.ok()) continue;
    for (const replication::Version& version : *versions) {
      const auto body = version.tombstone ? Result<ActivationBody>(notFound("it was taken back"))
                                          : replication::decodeRecord<ActivationBody>(version.body);
      if (body.ok() && body->agentId.starts_with(kMarketNodes)) wrote = serve(*body, now) || wrote;
    }
  }
  return wrote;
}

std::optional<std::string> MarketNodes::contractFor(const Wish& wish, Now now) const {
  const market::Moment moment = market::momentOf(now.wall);
  std::vector<std::pair<std::string, std::string>> fits;  // by id
  for (const std::string& digest : host_.buyer().contracts()) {
    const market::Contract& c = *host_.buyer().contract(digest);
    const Terms& terms = wish.terms;
    const bool sold = !terms.sellers || std::ranges::count(*terms.sellers, std::string(c.seller.org)) > 0;
    if (c.capability.graph == wish.capability && sold && c.notBefore <= moment && moment < c.expiry &&
        (!terms.currency || *terms.currency == c.currency) &&
        (!terms.maxPerCall || c.perCall <= market::Natural(std::max<std::int64_t>(0, *terms.maxPerCall))))
      fits.emplace_back(c.id, digest);
  }
  return fits.empty() ? std::nullopt : std::optional(std::ranges::min(fits).second);
}

bool MarketNodes::serve(const ActivationBody& body, Now now) {
  const auto input = parseJson(body.input, {.bytes = replication::kMaxRecordBytes, .depth = 64});
  const auto key = graphRunKey(body.agentId, body.span, std::int64_t(body.attempt));
  replication::Space* records = GraphBodies(replica_.data(), kScope).records();
  if (!input.ok() || !input->is_object() || !key.ok() || records == nullptr) return false;
  if (const auto over = agents::hasEnded(*records, *key); !over.ok() || *over) return false;
  boost::system::error_code none;
  const json::value* terms = input->find_pointer("/market/terms", none);
  const json::value* out = input->find_pointer("/market/out", none);
  const json::value* message = input->find_pointer("/graph/body", none);
  if (terms == nullptr || out == nullptr || !out->is_string() || message == nullptr || !message->is_object())
    return false;
  Wish wish{body.agentId.substr(kMarketNodes.size()), {}};
  if (const Status read = readJson(*terms, wish.terms, "terms"); !read.ok())
    return end(body, read.error().message, nullptr, "", now);
  const std::string name = callOf(body.span), type(out->get_string());
  for (const market::BuyerCall* call : host_.buyer().calls()) {
    if (call->call != name) continue;
    if (call->end.empty()) return false;
    if (call->end != "accepted" && call->end != "settled")
      return end(body, call->end + (call->reason.empty() ? "" : ": " + call->reason), nullptr, "", now);
    const json::value bundle = market::valueOf(call->bundle);
    const json::value* output = bundle.is_object() ? bundle.get_object().if_contains("output") : nullptr;
    return output == nullptr ? end(body, "no output came", nullptr, "", now) : end(body, "", output, type, now);
  }
  const std::optional<std::string> contract = contractFor(wish, now);
  if (!contract) return end(body, "no_contract", nullptr, "", now);
  const auto ordered = host_.order({*contract, name, 0, false, message->get_object()});
  if (ordered.ok() || ordered.error().code == ErrorCode::unavailable) return false;  // too many are open: it waits
  return end(body, ordered.error().message, nullptr, "", now);
}

// As an agent's run ends: the record, and the transcript's end with what it emits.
bool MarketNodes::end(const ActivationBody& body, const std::string& cause, const json::value* output,
                      const std::string& type, Now now) {
  const auto key = graphRunKey(body.agentId, body.span, std::int64_t(body.attempt));
  const std::int64_t ms = now.wallMs();
  replication::WakeRunBody run;
  run.runKey = key->value;
  run.agentId = body.agentId;
  run.reason = replication::WakeReason::graph;
  run.subject = body.graph;
  run.status = output == nullptr ? WakeStatus::failedTerminal : WakeStatus::completed;
  run.startedAtMs = run.finishedAtMs = ms;
  run.cause = cause.substr(0, 1'000);
  std::vector<replication::Write> writes;
  if (auto write = agents::runWrite(run); write.ok()) writes.push_back(*std::move(write));
  if (output != nullptr) {
    const auto entry = agents::episode::makeEntry(
        EntryKind::end, {{"emits", json::array{json::object{{"type", type}, {"body", *output}}}}});
    const auto message =
        agents::episode::messageOf({*key, replica_.device(), body.agentId, body.agentId}, 0, entry, ms);
    auto write =
        message.ok() ? replication::recordWrite(message->id, *message) : Result<replication::Write>(message.error());
    if (!write.ok()) return false;
    writes.push_back(*std::move(write));
  }
  return replica_.commit(replication::DatabaseName::agents, kScope, writes).ok();
}

}  // namespace witan::node
