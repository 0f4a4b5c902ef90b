#include "agents/policy/monitor.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/mutant.h"
#include "base/quote.h"

namespace witan::agents {

namespace {

constexpr std::size_t kMaxSchemaBytes = 64 * 1024;

std::vector<std::string_view> sortedViews(const std::vector<std::string>& words) {
  std::vector<std::string_view> views(words.begin(), words.end());
  std::ranges::sort(views);
  return views;
}

bool among(const std::vector<std::string_view>& sorted, std::string_view word) {
  return std::ranges::binary_search(sorted, word);
}

// Lists of an episode are short, and in whatever order its author left them.
bool among(const std::vector<std::string>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

// Where nothing at all is allowed, what is too much is the whole payload, which has no name: then its members.
std::string excessWords(const NamedFields& beyond, const json::value& payload) {
  const json::object* members = payload.if_object();
  if (members == nullptr || beyond.names != std::vector<std::string>{fieldPathText({})}) return beyond.words();
  NamedFields named{{}, members->size()};
  for (const auto& member : *members) named.names.push_back(withMember("", member.key()));
  std::ranges::sort(named.names);
  if (named.names.size() > kMaxNamedFields) named.names.resize(kMaxNamedFields);
  return named.words();
}

PolicyVerdict refusal(PolicyToken token, std::string witness) {
  return {VerdictKind::deny, token, std::move(witness), std::nullopt, std::nullopt};
}

}  // namespace

Result<JsonValidator> postCondition(std::string_view text) {
  WITAN_TRY(schema, parseJson(text, {.bytes = kMaxSchemaBytes, .depth = 24}));
  return JsonValidator::compile(std::move(schema));
}

Result<Monitor> Monitor::compile(Policy given) {
  WITAN_DO(checkPolicy(given));
  Monitor monitor;
  monitor.digest_ = policyDigest(given);
  monitor.policy_ = std::make_shared<const Policy>(std::move(given));
  for (const Boundary& boundary : monitor.policy_->boundary) {
    BoundaryEntry& entry = monitor.boundaries_[boundary.name];
    entry.boundary = &boundary;
    for (const OperationRule& rule : boundary.operation) {
      WITAN_TRY(allowed, Allowlist::compile(rule.allow, rule.mask));
      OperationEntry& operation = entry.operations[rule.name];
      operation.rule = &rule, operation.allowed = std::move(allowed);
      if (rule.answer) WITAN_SET(operation.answer, Allowlist::compile(*rule.answer, {}));
      if (rule.ensure) WITAN_SET(operation.ensure, postCondition(*rule.ensure));
    }
  }
  for (const Grant& grant : monitor.policy_->grant) {
    GrantEntry& entry = monitor.grants_[{grant.agent, grant.category}];
    entry = {sortedViews(grant.tools),
             sortedViews(grant.boundaries),
             sortedViews(grant.scopes),
             sortedViews(grant.locales),
             grant.models,
             &grant};
    std::ranges::sort(entry.models);
  }
  return monitor;
}

PolicyVerdict Monitor::check(const PolicyRequest& request, const ReceiptBook& receipts,
                             const SecretNames& secrets) const {
  Found found;
  if (std::string why = outOfScope(request, found); !why.empty())
    return refusal(PolicyToken::out_of_scope, std::move(why));
  if (std::string why = disallowedModel(request, found); !why.empty())
    return refusal(PolicyToken::disallowed_provider_model, std::move(why));
  if (std::string why = unconfirmed(request, found, receipts); !why.empty())
    return refusal(PolicyToken::privacy_confirmation_required, std::move(why));
  if (std::string why = secretMissing(request, found, secrets); !why.empty())
    return refusal(PolicyToken::secret_unavailable, std::move(why));
  PolicyVerdict verdict = projected(request, found);
  if (verdict.mayRun() && found.operation->rule->requireHuman) askHuman(request, verdict);
  return verdict;
}

// scopeOk: category and capability scope, and the locale (004, Law 4 and Law 5).
std::string Monitor::outOfScope(const PolicyRequest& request, Found& found) const {
  if (policy_ == nullptr) return "no policy is in force";
  const auto grant = grants_.find({request.agent, request.category});
  if (grant == grants_.end())
    return inQuotes(request.agent) + " has no grant for category " + inQuotes(request.category);
  found.grant = &grant->second;
  const auto boundary = boundaries_.find(request.boundary);
  if (boundary == boundaries_.end()) return "unknown boundary " + inQuotes(request.boundary);
  found.boundary = &boundary->second;
  const auto operation = found.boundary->operations.find(request.operation);
  if (operation == found.boundary->operations.end())
    return "boundary " + inQuotes(request.boundary) + " has no operation " + inQuotes(request.operation);
  found.operation = &operation->second;
  if (!among(found.grant->boundaries, request.boundary))
    return inQuotes(request.agent) + " may not cross boundary " + inQuotes(request.boundary);
  if (!among(found.grant->tools, request.tool))
    return inQuotes(request.agent) + " may not call tool " + inQuotes(request.tool);
  for (const std::string& scope : request.scopes)
    if (!among(found.grant->scopes, scope)) return inQuotes(request.agent) + " may not touch scope " + inQuotes(scope);
  for (const std::string& locale : found.boundary->boundary->locales)
    if (!among(found.grant->locales, locale))
      return "boundary " + inQuotes(request.boundary) + " is in locale " + inQuotes(locale) + ", where data of " +
             inQuotes(request.agent) + " may not get to";
  return beyondHeld(request, found);
}

// The same once more with what the episode holds, which forks have narrowed.
std::string Monitor::beyondHeld(const PolicyRequest& request, const Found& found) const {
  if (request.held == nullptr) return "the episode holds no capabilities";
  const PolicyScope& held = *request.held;
  if (!among(held.tools, request.tool)) return "the episode does not hold tool " + inQuotes(request.tool);
  if (!among(held.boundaries, request.boundary))
    return "the episode does not hold boundary " + inQuotes(request.boundary);
  for (const std::string& scope : request.scopes)
    if (!among(held.scopes, scope)) return "the episode does not hold scope " + inQuotes(scope);
  for (const std::string& locale : found.boundary->boundary->locales)
    if (!among(held.locales, locale))
      return "boundary " + inQuotes(request.boundary) + " is in locale " + inQuotes(locale) +
             ", beyond the episode's own";
  return {};
}

// providerOk. Whether a model is asked says the policy, not the caller.
std::string Monitor::disallowedModel(const PolicyRequest& request, const Found& found) const {
  if (!found.operation->rule->inference)
    return request.model == nullptr ? "" : place(request) + " is not for asking models";
  if (request.model == nullptr) return place(request) + " asks a model, and the request names none";
  const std::vector<ModelName>& models = found.grant->models;
  if (std::ranges::binary_search(models, *request.model)) return {};
  return inQuotes(request.agent) + " may not ask model " + inQuotes(request.model->model) + " of provider " +
         inQuotes(request.model->provider) + " in category " + inQuotes(request.category);
}

// privacyConfirmed
std::string Monitor::unconfirmed(const PolicyRequest& request, const Found& found, const ReceiptBook& receipts) const {
  const OperationRule& rule = *found.operation->rule;
  if (!rule.inference && !rule.confirm) return {};
  ReceiptQuery query{request.agent, {}, {}, request.boundary, policy_->name, policy_->version, &digest_};
  if (request.model != nullptr) {
    query.provider = request.model->provider;
    query.model = request.model->model;
  }
  if (receipts.has(query)) return {};
  std::string why =
      "nobody has confirmed that " + inQuotes(request.agent) + " may use boundary " + inQuotes(request.boundary);
  if (request.model != nullptr)
    why += " with model " + inQuotes(request.model->model) + " of provider " + inQuotes(request.model->provider);
  why += concat(" under version ", policy_->version, " of policy ", inQuotes(policy_->name));
  return receipts.hasOfAnotherVersion(query) ? why + " (only under another)" : why;
}

// secretAvailable. An operation that needs no secret gets none: nobody carries one to where it does not belong.
std::string Monitor::secretMissing(const PolicyRequest& request, const Found& found, const SecretNames& secrets) const {
  const std::vector<std::string>& allowed = found.operation->rule->secrets;
  if (request.secret.empty())
    return allowed.empty() ? "" : place(request) + " needs a secret, and the request names none";
  if (!among(allowed, request.secret)) return place(request) + " may not use the secret " + inQuotes(request.secret);
  return secrets.contains(request.secret) ? "" : "the secure store has no secret " + inQuotes(request.secret);
}

// ntkProjected
PolicyVerdict Monitor::projected(const PolicyRequest& request, const Found& found) const {
  if (request.payload == nullptr || conforms(found.operation->allowed, *request.payload))
    return {VerdictKind::allow, PolicyToken::none, {}, std::nullopt, std::nullopt};
  if (found.operation->rule->excess == Excess::block) {
    const NamedFields beyond = fieldsBeyond(found.operation->allowed, *request.payload);
    if (beyond.count > 0)
      return refusal(PolicyToken::overshared_payload_blocked,
                     "not allowed at " + place(request) + ": " + excessWords(beyond, *request.payload));
  }
  if (mutated("overshare")) return {VerdictKind::allow, PolicyToken::none, {}, std::nullopt, std::nullopt};
  Projection projection = project(found.operation->allowed, *request.payload);
  std::string words;
  if (projection.leftOut.count > 0) words = "left out: " + projection.leftOut.words();
  if (projection.masked.count > 0) words += (words.empty() ? "" : "; ") + ("masked: " + projection.masked.words());
  return {VerdictKind::redact, PolicyToken::none, std::move(words), std::move(projection.payload), std::nullopt};
}

PolicyVerdict Monitor::checkAnswer(std::string_view boundary, std::string_view operation,
                                   const json::value& answer) const {
  PolicyVerdict out{VerdictKind::allow, PolicyToken::none, {}, std::nullopt, std::nullopt};
  const auto at = boundaries_.find(boundary);
  if (at == boundaries_.end()) return out;
  const auto found = at->second.operations.find(operation);
  if (found == at->second.operations.end()) return out;
  const OperationEntry& rule = found->second;
  json::value seen = answer;
  if (rule.answer && !conforms(*rule.answer, answer)) {
    Projection projection = project(*rule.answer, answer);
    const std::string beyond = projection.leftOut.words();
    if (rule.rule->excess == Excess::block || answer.kind() != projection.payload.kind())
      return refusal(PolicyToken::answer_blocked, "not for agents to see: " + beyond);
    seen = std::move(projection.payload);
    out.kind = VerdictKind::redact, out.witness = "left out: " + beyond;
  }
  if (rule.ensure && !mutated("believeAnswers"))
    if (const Status holds = rule.ensure->check(seen); !holds.ok())
      return refusal(PolicyToken::postcondition_failed, concat("the answer of ", boundary, ", ", operation,
                                                               " is not as it must be: ", holds.error().message));
  if (out.kind == VerdictKind::redact) out.projected = std::move(seen);
  return out;
}

std::string Monitor::barred(std::string_view agent, std::string_view category, std::string_view reason) const {
  const auto at = grants_.find({agent, category});
  const auto* wakes = at == grants_.end() ? nullptr : &at->second.grant->wakes;
  if (wakes == nullptr || !*wakes || among(**wakes, reason)) return {};
  return concat("policy ", inQuotes(policy_->name), " ", policy_->version, " lets no ", reason, " wake it");
}

// Last of all: nobody is asked about what is forbidden anyway, and everybody sees what would really cross.
void Monitor::askHuman(const PolicyRequest& request, PolicyVerdict& verdict) const {
  const Hash digest = requestDigest(request, verdict.projected ? &*verdict.projected : request.payload);
  if (request.approved != nullptr && (*request.approved == digest || mutated("approvedBefore"))) return;
  verdict.kind = VerdictKind::requireHuman;
  const std::string words = place(request) + (request.approved == nullptr ? " needs a person's approval"
                                                                          : ": what was approved is something else");
  verdict.witness = verdict.witness.empty() ? words : words + "; " + verdict.witness;
  verdict.digest = digest;
}

std::string Monitor::place(const PolicyRequest& request) const {
  return "boundary " + inQuotes(request.boundary) + ", operation " + inQuotes(request.operation);
}

Hash Monitor::requestDigest(const PolicyRequest& request, const json::value* payload) const {
  json::array scopes;
  for (const std::string& scope : request.scopes) scopes.emplace_back(scope);
  const json::value shown = json::object{{"agent", request.agent},
                                         {"boundary", request.boundary},
                                         {"category", request.category},
                                         {"model", request.model == nullptr ? "" : request.model->model},
                                         {"operation", request.operation},
                                         {"operationId", request.operationId},
                                         {"payload", payload == nullptr ? json::value() : *payload},
                                         {"policy", mutated("digestWithoutPolicy") ? std::string() : toHex(digest_)},
                                         {"provider", request.model == nullptr ? "" : request.model->provider},
                                         {"scopes", std::move(scopes)},
                                         {"secret", request.secret},
                                         {"tool", request.tool}};
  return sha256(canonicalJson(shown));
}

const OperationRule* Monitor::rule(std::string_view boundary, std::string_view operation) const {
  const auto at = boundaries_.find(boundary);
  if (at == boundaries_.end()) return nullptr;
  const auto found = at->second.operations.find(operation);
  return found == at->second.operations.end() ? nullptr : found->second.rule;
}

const Allowlist* Monitor::allowlist(std::string_view boundary, std::string_view operation) const {
  const auto at = boundaries_.find(boundary);
  if (at == boundaries_.end()) return nullptr;
  const auto found = at->second.operations.find(operation);
  return found == at->second.operations.end() ? nullptr : &found->second.allowed;
}

}  // namespace witan::agents
