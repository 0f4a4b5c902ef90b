#include "node/market/market_host.h"

#include <algorithm>

#include "base/quote.h"
#include "base/seams.h"
#include "domains/escrow/escrow.h"
#include "replica/core/partition_host.h"
#include "replica/graph_runtime.h"
#include "replication/local_replica.h"

namespace witan::node {

using market::Contract;
using market::Letter;
using market::Moment;
using market::Out;

namespace {

constexpr std::string_view kEscrowDomain = "escrow", kProofRows = "m/i/", kUntoldRows = "m/n/", kAsideRows = "m/x/";
constexpr std::string_view kDeskRows[] = {"m/c/", "m/b/", "m/s/"};  // as Desk; the holder's memory is its ledger
constexpr std::int64_t kTickMs = 1'000, kAnswerMs = 10'000;
constexpr std::size_t kMostQuestions = 1'000;
constexpr std::size_t kMostIncidentBytes = 1 << 10;  // of its text; proofs are apart

}  // namespace

// ---- from the directory to desks

Result<std::unique_ptr<MarketHost>> MarketHost::open(MarketNode node, MarketSetup setup, const SigningKey& deviceKey) {
  const Moment now = market::momentOf(node.now().wall);
  WITAN_TRY(identity, openMarketIdentity(node.dir, setup.origin, now));
  WITAN_TRY(tls, net::tlsIdentityOf(deviceKey, setup.origin.device));
  std::unique_ptr<MarketHost> host(new MarketHost(std::move(node), std::move(setup), std::move(identity), tls));
  WITAN_DO(host->restore());
  return host;
}

MarketHost::MarketHost(MarketNode node, MarketSetup setup, MarketIdentity identity, const net::TlsIdentity& tls)
    : node_(std::move(node)), setup_(std::move(setup)), identity_(std::move(identity)), nodes_(node_.replica, *this) {
  openDesks();
  openRuns();
  MarketDoor::Events events;
  events.now = [this] { return now(); };
  events.roots = [this] { return roots(); };
  events.isRevoked = [this](const PublicKey& root, const PublicKey& device) { return revoked_.has(root, device); };
  events.letter = [this](const Letter& letter) { onLetter(letter); };
  events.awaitsEvidence = [this](const std::string& org) { return buyer_->awaits(org); };
  events.incident = [this](const market::MarketIncident& incident) {
    Out told;
    told.incidents.push_back(incident);
    carryOut(Desk::holder, std::move(told));
  };
  events.connected = [this](const std::string& org) {
    contracts_->hurry(), buyer_->hurry(org), seller_->hurry(org);
    tellRevokedTo(org);
    tick();
  };
  door_ = std::make_unique<MarketDoor>(node_.loop, node_.log, tls, identity_.org, identity_.pass, std::move(events));
}

MarketHost::~MarketHost() { *self_ = nullptr; }

void MarketHost::openDesks() {
  const std::string& org = identity_.org;
  roots_ = roots();
  contracts_ = std::make_unique<market::ContractDesk>(org, identity_.contract, identity_.grants);
  buyer_ = std::make_unique<market::BuyerDesk>(org, identity_.contract, roots_);
  seller_ = std::make_unique<market::SellerDesk>(market::SellerSetup{
      org, identity_.contract, identity_.evidence, identity_.logKey(), {}, identity_.grants, roots_, setup_.escrows});
  holder_ = std::make_unique<market::HolderDesk>(
      org, [this](const std::string& entity) { return escrowOf(entity); }, roots_,
      [this](const std::string& entity, const std::string& call) { return deliveredTo(entity, call); });
}

void MarketHost::openRuns() {
  MarketRuns::Events events;
  events.ended = [this](const std::string& external, const market::RunResult& result) {
    carryOut(Desk::seller, seller_->runEnded(external, result, now()));
  };
  events.recorded = [this](const std::string& external, const json::value& receipt) {
    carryOut(Desk::seller, seller_->recorded(external, receipt, now()));
  };
  events.failed = [this](const std::string& what) { node_.log.warn("market", what); };
  runs_ = std::make_unique<MarketRuns>(node_.replica, node_.store, node_.tools, node_.ask, node_.policyEpoch,
                                       std::move(events));
}

Status MarketHost::restoreRow(Desk desk, const market::Row& row) {
  return desk == Desk::contracts ? contracts_->restore(row)
         : desk == Desk::buyer   ? buyer_->restore(row)
                                 : seller_->restore(row);
}

// Money may be held for what a row says that cannot be read: it is set aside, on record, and tried again at each start.
// The others go on.
Status MarketHost::restore(Desk desk) {
  const std::string_view prefix = kDeskRows[std::size_t(desk)];
  std::map<std::string, std::string> unread, aside;
  WITAN_DO(node_.store.scan(prefix, {}, [&](std::string_view key, std::string_view value) {
    const market::Row row{std::string(key.substr(prefix.size())), std::string(value)};
    if (const Status read = restoreRow(desk, row); !read.ok()) {
      unread.emplace(key, value);
      node_.log.error("market", "a row cannot be read: " + read.error().message, {{"row", std::string(key)}});
    }
    return true;
  }));
  const std::string before = concat(kAsideRows, prefix);
  WITAN_DO(node_.store.scan(before, {}, [&](std::string_view key, std::string_view value) {
    aside.emplace(key.substr(kAsideRows.size()), value);
    return true;
  }));
  store::WriteBatch batch;
  for (const auto& [key, value] : aside)
    if (!unread.contains(key) && restoreRow(desk, {key.substr(prefix.size()), value}).ok())
      batch.put(key, value), batch.erase(concat(kAsideRows, key));
  if (!batch.empty()) WITAN_DO(node_.store.write(batch));
  if (unread.empty()) return okStatus();
  Out told;
  store::WriteBatch moved;
  for (const auto& [key, value] : unread) {
    moved.put(concat(kAsideRows, key), value), moved.erase(key);
    told.incidents.push_back({"row",
                              identity_.org,
                              concat("what was kept as ", key, " cannot be read, and is set aside"),
                              {toHex(sha256(value))}});
  }
  WITAN_DO(node_.store.write(moved));
  return keep(desk, told);
}

Status MarketHost::restore() {
  std::map<std::string, std::string> untold;
  WITAN_DO(node_.store.scan(kUntoldRows, {}, [&](std::string_view key, std::string_view value) {
    untold.emplace(key, value);
    return true;
  }));
  for (const Desk desk : {Desk::contracts, Desk::buyer, Desk::seller}) WITAN_DO(restore(desk));
  for (const std::string& digest : buyer_->contracts()) agreed_.insert(digest);
  for (const auto& [key, value] : untold) note(key, value);
  return restoreRevoked();
}

Status MarketHost::start() {
  if (!setup_.listen.empty()) {
    WITAN_SET(address_, door_->listen(setup_.listen));
    node_.log.info("market", "listening for partners", {{"address", address_}, {"org", identity_.org}});
  }
  for (const auto& [id, host] : node_.replica.hosts())
    if (host->module().signature().domain == kEscrowDomain)
      for (const std::string& entity : host->partition().entities()) holder_->watch(entity, now());
  for (const MarketPartner& partner : setup_.partners) door_->dial(partner.org, partner.address);
  tick();
  return okStatus();
}

void MarketHost::close() {
  closed_ = true;
  door_->close();
  for (auto& [id, question] : std::exchange(questions_, {})) {
    node_.loop.cancel(question.timer);
    question.done(Error{ErrorCode::unavailable, "the node is stopping", "try again when it is back"});
  }
}

void MarketHost::tick() {
  if (closed_ || broken_) return;
  forgetNoted();
  keepStanding();
  if (broken_) return;
  carryOut(Desk::contracts, contracts_->tick(now()));
  carryOut(Desk::buyer, buyer_->tick(now()));
  carryOut(Desk::seller, seller_->tick(now()));
  carryOut(Desk::holder, holder_->tick(now()));
  pollGraphs();
  if (ticking_) return;
  ticking_ = true;
  node_.loop.after(kTickMs, [self = self_] {
    if (*self == nullptr) return;
    (*self)->ticking_ = false;
    (*self)->tick();
  });
}

void MarketHost::pollGraphs() {
  runs_->poll();
  if (nodes_.poll(node_.now())) node_.schedule();
}

// Rounds tell of entries, and nothing is asked inside of one.
void MarketHost::onEntry(const PartitionHost& host, const StoredEntry& entry) {
  const std::string& domain = host.module().signature().domain;
  const bool escrow = domain == kEscrowDomain;
  if (!escrow && domain != kGraphDomain) return;
  const bool sentBack = entry.entry.tag == kernel::Tag::cRejected;
  node_.loop.post([self = self_, escrow, sentBack, entity = std::string(entry.entry.entity)] {
    if (*self == nullptr || (*self)->closed_) return;
    MarketHost& market = **self;
    if (!escrow) return market.pollGraphs();
    market.holder_->watch(entity, market.now());
    if (sentBack) market.holder_->unruled(entity, market.now());
    market.carryOut(Desk::holder, market.holder_->tick(market.now()));
  });
}

// ---- what a desk asks

// An incident is as durable as what it was seen at: a death right after loses neither.
Status MarketHost::keep(Desk desk, const Out& out) {
  store::WriteBatch batch;
  for (const market::Row& row : out.rows) batch.put(concat(kDeskRows[std::size_t(desk)], row.key), row.value);
  std::map<std::string, std::string> told;
  for (const market::MarketIncident& incident : out.incidents) {
    std::string what(clip(concat(incident.org, ": ", incident.what), kMostIncidentBytes));
    if (!incident.proof.empty()) {
      const std::string proof = canonicalJson(json::array(incident.proof.begin(), incident.proof.end()));
      const std::string digest = toHex(sha256(proof));
      batch.put(concat(kProofRows, digest), proof);
      what += concat(" (proof ", digest, ")");
    }
    const std::string value = canonicalJson(json::array{"market-" + incident.kind, what});
    told[concat(kUntoldRows, toHex(sha256(value)))] = value;
  }
  for (const auto& [key, value] : told) batch.put(key, value);
  if (batch.empty()) return okStatus();
  // An ask of this node's own ledgers becomes durable with what was written before it, in the same store.
  WITAN_DO(node_.store.write(batch));
  for (const auto& [key, value] : told) note(key, value);
  return okStatus();
}

// Nothing leaves that does not rest on what is stored.
bool MarketHost::holds(const Status& stored) {
  if (stored.ok()) return true;
  broken_ = true;
  node_.log.error("market", "nothing more is done: " + stored.error().message);
  return false;
}

void MarketHost::carryOut(Desk desk, Out out) {
  if (broken_ || !holds(keep(desk, out))) return;
  const bool firm = out.firm || !out.incidents.empty();
  const auto questions =
      std::ranges::stable_partition(out.letters, [](const Letter& letter) { return letter.kind != "view"; });
  if (!firm || questions.empty()) return firm && !holds(node_.store.sync()) ? void() : goOn(desk, std::move(out));
  // Their answers come while the disk writes.
  for (Letter& letter : questions) post(std::move(letter));
  out.letters.erase(questions.begin(), questions.end());
  node_.loop.post([self = self_, desk, out = std::move(out)]() mutable {
    if (*self == nullptr || (*self)->broken_ || !(*self)->holds((*self)->node_.store.sync())) return;
    (*self)->goOn(desk, std::move(out));
  });
}

void MarketHost::goOn(Desk desk, Out out) {
  tellWatchers(desk, out.rows);
  for (Letter& letter : out.letters) post(std::move(letter));
  for (const market::RunRequest& run : out.runs) runs_->start(run, now());
  for (const market::RecordRequest& record : out.records) runs_->record(record, identity_);
  for (const market::EscrowAct& act : out.acts) this->act(act);
  if (desk == Desk::contracts) takeAgreed();
  if (desk == Desk::buyer && !out.rows.empty()) lookAtGraphs();
}

std::uint64_t MarketHost::watch(Watcher changed) {
  watchers_[++nextWatch_] = std::move(changed);
  return nextWatch_;
}

// Once for all that changes until the loop comes to it, and of the rows that have changed.
void MarketHost::tellWatchers(Desk desk, const std::vector<market::Row>& rows) {
  if (watchers_.empty() || rows.empty()) return;
  for (const market::Row& row : rows) {
    const std::string name = row.key.substr(row.key.find('/') + 1);
    if (row.key.starts_with("call/"))
      (desk == Desk::buyer ? changes_.boughtCalls : changes_.soldCalls).insert(name);
    else
      (desk == Desk::seller ? changes_.sold : changes_.bought).insert(name);
  }
  if (std::exchange(telling_, true)) return;
  node_.loop.post([self = self_] {
    if (*self == nullptr) return;
    (*self)->telling_ = false;
    const auto watchers = (*self)->watchers_;
    const MarketChanges changes = std::exchange((*self)->changes_, {});
    for (const auto& [handle, changed] : watchers) changed(changes);
  });
}

// A graph may wait for what a call has come to. Not inside of what it has come by.
void MarketHost::lookAtGraphs() {
  if (looking_) return;
  looking_ = true;
  node_.loop.post([self = self_] {
    if (*self == nullptr || (*self)->closed_) return;
    (*self)->looking_ = false;
    (*self)->pollGraphs();
  });
}

void MarketHost::note(const std::string& key, const std::string& value) {
  const json::value incident = market::valueOf(value);
  const json::array* told = incident.if_array();
  const bool good = told != nullptr && told->size() == 2 && told->at(0).is_string() && told->at(1).is_string();
  const std::string kind = good ? std::string(told->at(0).get_string()) : "market-row";
  const std::string what = good ? std::string(told->at(1).get_string()) : concat("an incident cannot be read: ", key);
  node_.log.warn("market", what, {{"kind", kind}});
  node_.replica.data().note({kind, "", what});
  noted_.push_back(key);
  node_.schedule();
}

void MarketHost::forgetNoted() {
  if (noted_.empty() || !node_.settle().ok()) return;
  store::WriteBatch batch;
  for (const std::string& key : std::exchange(noted_, {})) batch.erase(key);
  (void)node_.store.write(batch);
}

void MarketHost::post(Letter letter) {
  if (letter.to != identity_.org) {
    (void)door_->send(letter);  // what is lost is asked again
    return;
  }
  node_.loop.post([self = self_, letter = std::move(letter)] {
    if (*self != nullptr) (*self)->onLetter(letter);
  });
}

void MarketHost::act(const market::EscrowAct& act) {
  const kernel::DomainModule* module = node_.replica.moduleOf(kEscrowDomain);
  if (module == nullptr) return;
  const auto decided = [this, act](const kernel::Decision& decision) {
    carryOut(Desk::holder, holder_->decided(act, decision, now()));
  };
  auto request = act.role.empty()
                     ? Result<Request>(initRequest(*module, act.entity, act.operationId, act.action.at("fields")))
                     : proposalRequest(*module, act.entity, act.role, act.operationId, act.action);
  if (!request.ok()) {
    kernel::Decision refused;
    refused.message = request.error().message;
    return decided(refused);
  }
  (void)node_.ask(*std::move(request), kAnswerMs, [self = self_, decided](const Result<Answer>& answer) {
    if (*self == nullptr || !answer.ok()) return;
    if (answer->kind != AnswerKind::decided && answer->kind != AnswerKind::frozen) return;
    kernel::Decision decision;
    decision.outcome = answer->kind == AnswerKind::frozen ? kernel::Outcome::frozen : answer->outcome;
    decision.recorded = answer->recorded;
    decision.seq = answer->seq;
    decision.invariant = answer->invariant;
    decision.message = answer->message;
    decided(decision);
  });
}

// What the holder has opened is the buyer's to order under.
void MarketHost::takeAgreed() {
  for (const auto& [digest, known] : contracts_->all()) {
    if (known.proposal.step != market::ProposalStep::agreed || !agreed_.insert(digest).second) continue;
    Result<Out> added = buyer_->addContract(known.proposal.envelope);
    if (added.ok()) carryOut(Desk::buyer, *std::move(added));
  }
}

const kernel::EntityState* MarketHost::escrowIn(Replica& replica, const std::string& entity) {
  const PartitionHost* host = replica.host(replica.partitionFor(kEscrowDomain, entity));
  return host == nullptr ? nullptr : host->partition().state(entity);
}

const kernel::EntityState* MarketHost::escrowOf(const std::string& entity) const {
  return escrowIn(node_.replica, entity);
}

// The newest delivery of the call that was approved. O(entries since).
std::string MarketHost::deliveredTo(const std::string& entity, const std::string& call) const {
  const PartitionHost* host = node_.replica.host(node_.replica.partitionFor(kEscrowDomain, entity));
  std::string evidence;
  if (host == nullptr) return evidence;
  const auto delivers = [&](const StoredEntry& entry) {
    if (entry.entry.entity != entity || entry.entry.tag != kernel::Tag::approved) return false;
    const auto action = parseJson(entry.entry.action, {.bytes = kernel::kRecordMax, .depth = 64});
    const json::object* members = action.ok() ? action->if_object() : nullptr;
    return members != nullptr && market::textOf(*members, "type") == "Deliver" &&
           market::textOf(*members, "call") == call;
  };
  (void)visitNewest(host->rows(), 1, delivers, [&](const StoredEntry& entry) {
    const auto action = parseJson(entry.entry.action, {.bytes = kernel::kRecordMax, .depth = 64});
    evidence = market::textOf(action->get_object(), "evidence");
  });
  return evidence;
}

// ---- letters

std::string MarketHost::randomHex(std::size_t bytes) {
  std::string text(bytes, '\0');
  SystemRandom().fill({reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  return toHex(asBytes(text));
}

void MarketHost::onLetter(const Letter& letter) {
  if (closed_ || broken_) return;
  if (!node_.isMember()) return keepStanding();  // at each letter, since a revoked device is nobody's voice
  if (letter.kind == "answer") return onAnswer(letter);
  if (letter.kind == "find" || letter.kind == "card") return answerFind(letter);
  if (letter.kind == kRevokedLetter) {
    const json::value* list = letter.body.if_contains("list");
    return list == nullptr ? void() : takeRevoked(*list);
  }
  if (isOfRevoked(letter)) return post(market::refusalOf(letter, "a key of this contract is revoked"));
  if (letter.kind == "evidence") return carryOut(Desk::buyer, buyer_->onLetter(letter, now()));
  if (letter.kind != "view" && letter.kind != "act" && letter.kind != "open")
    return carryOut(Desk::seller, seller_->onLetter(letter, now()));
  // What is told of the ledger is durable.
  if (letter.kind == "view" && !node_.settle().ok()) return;
  carryOut(Desk::holder, holder_->onLetter(letter, now()));
}

void MarketHost::onAnswer(const Letter& letter) {
  if (const auto at = questions_.find(letter.id); at != questions_.end()) {
    if (at->second.to != letter.from) return;
    const Question asked = std::move(at->second);
    node_.loop.cancel(asked.timer);
    questions_.erase(at);
    Letter answer = letter;
    market::trim(answer);
    if (answer.body.contains("busy"))
      return asked.done(Error{ErrorCode::unavailable, letter.from + " is busy" + market::textOf(answer.body, "because"),
                              "try again in a second"});
    return asked.done(std::move(answer.body));
  }
  carryOut(Desk::contracts, contracts_->onLetter(letter, now()));
  carryOut(Desk::buyer, buyer_->onLetter(letter, now()));
  carryOut(Desk::seller, seller_->onLetter(letter, now()));
}

void MarketHost::question(const std::string& to, const std::string& kind, json::object body, Answered done) {
  if (to != identity_.org && !door_->isConnected(to))
    return done(Error{ErrorCode::unavailable, to + " is not connected",
                      "is it a partner in [market], up, and trusted with the right root?"});
  if (questions_.size() >= kMostQuestions)
    return done(Error{ErrorCode::unavailable, "too many questions wait for their answers", "try again later"});
  const std::string id = "question/" + randomHex(16);
  Question& asked = questions_[id] = {to, std::move(done)};
  asked.timer = node_.loop.after(kAnswerMs, [this, id] {
    const auto at = questions_.find(id);
    if (at == questions_.end()) return;
    const Question late = std::move(at->second);
    questions_.erase(at);
    late.done(Error{ErrorCode::unavailable, late.to + " does not answer", "try again later"});
  });
  post({identity_.org, to, id, kind, std::move(body)});
}

// ---- what people ask of calls

Result<const market::BuyerCall*> MarketHost::order(const CallWish& wish) {
  WITAN_TRY(digest, contractNamed(wish.contract));
  const Contract* contract = buyer_->contract(digest);
  if (contract == nullptr)
    return conflict("the contract " + wish.contract + " is not agreed yet",
                    "see: witan market contract show " + wish.contract);
  market::OrderWish order{
      digest,     wish.call,         wish.amount > 0 ? market::Natural(wish.amount) : contract->perCall,
      {},         contract->locales, contract->budget,
      wish.review};
  if (order.call.empty()) {
    std::size_t n = 1;
    while (buyer_->find(digest, concat("C", n)) != nullptr) ++n;
    order.call = concat("C", n);
  }
  if (const market::BuyerCall* known = buyer_->find(digest, order.call)) {
    if (market::membersOf(known->disclosures) == wish.input) order.disclosures = known->disclosures;
  } else {
    // Salts are fresh, so that equal inputs of two orders cannot be told.
    for (const auto& [name, value] : wish.input)
      order.disclosures.push_back(market::disclosureOf(randomHex(16), name, value));
  }
  WITAN_TRY(out, buyer_->order(order, now()));
  carryOut(Desk::buyer, std::move(out));
  return buyer_->find(digest, order.call);
}

Result<std::string> MarketHost::contractNamed(const std::string& name) const {
  if (contracts_->all().contains(name) || seller_->contract(name) != nullptr) return name;
  std::set<std::string> fits;
  const auto look = [&](const std::string& digest, const Contract& contract) {
    if (contract.id == name || (name.size() >= 8 && digest.starts_with(name))) fits.insert(digest);
  };
  for (const auto& [digest, known] : contracts_->all()) look(digest, known.opened.document);
  for (const std::string& digest : seller_->contracts()) look(digest, *seller_->contract(digest));
  if (fits.empty() && escrowOf(name) != nullptr) return name;
  if (fits.empty()) return notFound("no contract " + inQuotes(name), "see: witan market contract list");
  if (fits.size() > 1) return conflict("several contracts are called " + inQuotes(name), "name one by its digest");
  return *fits.begin();
}

Result<MarketHost::CallName> MarketHost::callNamed(const std::string& name) const {
  const std::size_t slash = name.find('/');
  const std::string call = slash == name.npos ? name : name.substr(slash + 1);
  std::string contract;
  if (slash != name.npos) {
    WITAN_SET(contract, contractNamed(name.substr(0, slash)));
  }
  std::vector<CallName> fits;
  const auto look = [&](const auto& all, bool bought) {
    for (const auto* one : all)
      if (one->call == call && (contract.empty() || one->contract == contract))
        fits.push_back({one->contract, one->call, bought});
  };
  look(buyer_->calls(), true);
  look(seller_->calls(), false);
  if (fits.empty()) return notFound("no call " + inQuotes(name), "see: witan market contract show CONTRACT");
  if (fits.size() > 1) return conflict("several calls are called " + inQuotes(name), "name one: CONTRACT/" + call);
  return fits.front();
}

Status MarketHost::decide(const std::string& name, const std::string& act, const std::string& reason) {
  WITAN_TRY(call, callNamed(name));
  const auto step = parseEnum<market::BuyerStep>(act);
  if (call.bought != (act != "claim"))
    return conflict(concat("call ", call.call, " was ", call.bought ? "bought" : "sold", " here"),
                    "accept, dispute and reclaim are the buyer's, claim is the seller's");
  if (!call.bought) {
    WITAN_TRY(out, seller_->claim(call.contract, call.call, now()));
    carryOut(Desk::seller, std::move(out));
    return okStatus();
  }
  WITAN_TRY(out, buyer_->decide(call.contract, call.call, *step, reason, now()));
  carryOut(Desk::buyer, std::move(out));
  return okStatus();
}

void MarketHost::stopContract(const std::string& name, Answered done) {
  const auto digest = contractNamed(name);
  if (!digest.ok()) return done(digest.error());
  const Contract* bought = buyer_->contract(*digest);
  const Contract* contract = bought != nullptr ? bought : seller_->contract(*digest);
  if (contract == nullptr) return done(conflict("the contract is not agreed yet"));
  const char* type = bought != nullptr ? "BuyerStop" : "SellerStop";
  question(contract->escrow, "act", {{"entity", *digest}, {"action", json::object{{"type", type}}}}, std::move(done));
}

void MarketHost::view(const std::string& name, Answered done) {
  const auto digest = contractNamed(name);
  if (!digest.ok()) return done(digest.error());
  const Contract* contract = buyer_->contract(*digest);
  if (contract == nullptr) contract = seller_->contract(*digest);
  if (contract != nullptr && contract->escrow != identity_.org)
    return question(contract->escrow, "view", {{"entity", *digest}}, std::move(done));
  if (const Status durable = node_.settle(); !durable.ok()) return done(durable.error());
  const kernel::EntityState* state = escrowOf(*digest);
  if (state == nullptr)
    return done(notFound("no escrow is open for " + name, "see: witan market contract show " + name));
  done(domains::escrow::viewOf(*state));
}

Result<json::object> MarketHost::bundle(const std::string& name, const std::vector<std::string>& disclosed) const {
  WITAN_TRY(call, callNamed(name));
  const market::BuyerCall* bought = call.bought ? buyer_->find(call.contract, call.call) : nullptr;
  const market::SellerCall* sold = call.bought ? nullptr : seller_->find(call.contract, call.call);
  const std::string& text = bought != nullptr ? bought->bundle : sold->bundle;
  const json::value bundle = market::valueOf(text);
  if (!bundle.is_object()) return notFound("call " + name + " has no evidence yet", "see: witan market contract show");
  json::object given = bundle.get_object();
  json::array disclosures;
  for (const std::string& member : disclosed) {
    const auto& all = bought != nullptr ? bought->disclosures : sold->disclosures;
    const auto at =
        std::ranges::find_if(all, [&](const std::string& each) { return market::membersOf({each}).contains(member); });
    if (at == all.end()) return notFound("the input has no member " + inQuotes(member));
    disclosures.emplace_back(*at);
  }
  given["disclosures"] = std::move(disclosures);
  return given;
}

}  // namespace witan::node
