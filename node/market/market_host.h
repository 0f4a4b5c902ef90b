// MarketHost: the desks of the market (market/) on a node: the door, the clock, the store and the ledgers that they
// have not. It stores the rows of an Out first, durably if the Out is firm, and then carries out the rest, so a death
// at any point changes nothing: what was asked is asked again under the same id.
//
//   m/c/, m/b/, m/s/   rows of the desks of contracts, buyer and seller, in the store of the ledgers
//   m/i/{digest}       what proves an incident
//   m/n/{digest}       an incident that is not on the node's record yet
//   m/x/{row}          a row of a desk that could not be read at a start; it is tried again at each
//   m/r/{root}         the newest list of devices that this root has revoked
//
// On the node's loop. All of MarketNode outlives it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "market/buyer_desk.h"
#include "market/contract_desk.h"
#include "market/holder_desk.h"
#include "market/seller_desk.h"
#include "node/ledgers/ledger_reader.h"
#include "node/market/market_card.h"
#include "node/market/market_door.h"
#include "node/market/market_nodes.h"
#include "node/market/market_revoked.h"
#include "node/market/market_runs.h"

namespace witan::node {

// What it needs of the node.
struct MarketNode {
  net::Loop& loop;
  Log& log;
  Replica& replica;
  store::Store& store;
  std::filesystem::path dir;
  std::vector<ToolConfig> tools;
  MarketAsk ask;
  std::function<Now()> now;
  std::function<Status()> settle;  // a round at once: what was decided so far is durable
  std::function<void()> schedule;  // a round is due
  std::function<std::string()> policyEpoch;
  std::function<bool()> isMember;  // this device, with its key, of the newest roster
};

struct MarketPartner {
  std::string org, address;
};

struct MarketSetup {
  MarketOrigin origin;
  std::string listen;  // empty: it only dials
  std::vector<MarketPartner> partners;
  std::set<std::string> escrows;  // who may hold the money of what is sold here
};

// What people ask for. Empty or 0: as the offer or the graph has it.
struct PublishWish {
  std::string graph, currency;
  std::int64_t price = 0, calls = 0, deliverSeconds = 0, windowSeconds = 0, days = 0;
};
// Empty or 0: as it is offered.
struct QuoteWish {
  std::string seller, graph;
  std::vector<std::string> locales;
  std::int64_t steps = 0, tokens = 0, seconds = 0;
};
struct ProposeWish {
  std::string seller, escrow, offer, id;  // offer: its digest, or the graph
  std::int64_t total = 0, calls = 0, days = 0;
};
struct CallWish {
  std::string contract, call;
  std::int64_t amount = 0;
  bool review = false;
  json::object input;
};

// What has changed, by the keys of the desks' rows.
struct MarketChanges {
  std::set<std::string> bought, sold;            // contracts, by digest
  std::set<std::string> boughtCalls, soldCalls;  // CONTRACT/CALL
};

class MarketHost {
 public:
  // Errors: of the files (market_identity.h), of the store, an address that cannot be listened on.
  static Result<std::unique_ptr<MarketHost>> open(MarketNode node, MarketSetup setup, const SigningKey& deviceKey);
  ~MarketHost();
  // Errors: an address that cannot be listened on.
  Status start();
  void close();
  // An entry is durable here.
  void onEntry(const PartitionHost& host, const StoredEntry& entry);

  // ---- what people ask
  Result<std::string> publish(const PublishWish& wish);  // digest of the offer
  // Of a partner: {"card","offers"}, the card read and verified.
  using FoundOffers = std::function<void(Result<json::object>)>;
  void find(const std::string& org, FoundOffers done);
  // An offer narrowed to what is wished, which a proposal may name until it ends or this process does.
  void quote(const QuoteWish& wish, FoundOffers done);
  // The contract's id, once the proposal is durable.
  using Proposed = std::function<void(Result<std::string>)>;
  void propose(const ProposeWish& wish, Proposed done);
  Result<const market::BuyerCall*> order(const CallWish& wish);
  // accept, dispute and reclaim of the buyer, claim of the seller. `call`: "C1", or "CONTRACT/C1".
  Status decide(const std::string& call, const std::string& act, const std::string& reason);
  // An act of this organisation that is of no call: BuyerStop or SellerStop. The holder's answer.
  using Answered = std::function<void(Result<json::object>)>;
  void stopContract(const std::string& contract, Answered done);
  // An escrow in the ledgers that this device has; null: there is none.
  static const kernel::EntityState* escrowIn(Replica& replica, const std::string& entity);
  // The money and the calls, as the holder says it, or the ledger if it is this node.
  void view(const std::string& contract, Answered done);
  // The evidence of a call that was bought or sold, with these members of its input disclosed.
  Result<json::object> bundle(const std::string& call, const std::vector<std::string>& disclosed) const;

  // Called after contracts or calls of this organisation have changed, durably. Handle: for unwatch().
  using Watcher = std::function<void(const MarketChanges&)>;
  std::uint64_t watch(Watcher changed);
  void unwatch(std::uint64_t handle) { watchers_.erase(handle); }

  // ---- what there is
  const MarketIdentity& identity() const { return identity_; }
  const MarketSetup& setup() const { return setup_; }
  const std::string& address() const { return address_; }
  bool isConnected(const std::string& org) const { return door_->isConnected(org); }
  const market::ContractDesk& proposals() const { return *contracts_; }
  const market::BuyerDesk& buyer() const { return *buyer_; }
  const market::SellerDesk& seller() const { return *seller_; }
  json::object card();
  // Id, digest or the beginning of a digest: of a contract as buyer or as seller. Errors: notFound; conflict, several.
  Result<std::string> contractNamed(const std::string& name) const;

 private:
  enum class Desk : std::uint8_t { contracts, buyer, seller, holder };
  struct Question {
    std::string to;
    Answered done;
    net::Loop::TimerId timer = 0;
  };

  MarketHost(MarketNode node, MarketSetup setup, MarketIdentity identity, const net::TlsIdentity& tls);
  market::Moment now() const { return market::momentOf(node_.now().wall); }
  market::Roots roots();
  Status restore();
  Status restore(Desk desk);
  Status restoreRow(Desk desk, const market::Row& row);
  void keepStanding();
  void renewPass();
  Status restoreRevoked();
  void takeRevoked(const json::value& list);
  bool isOfRevoked(const market::Letter& letter) const;
  void postRevoked(const std::string& to, const RevokedBook::Known& list);
  void tellRevoked(const RevokedBook::Known& list);
  void tellRevokedTo(const std::string& org);
  std::set<std::string> tiedTo(const std::string& org) const;
  void openDesks();
  void openRuns();
  void tick();
  void pollGraphs();
  void lookAtGraphs();
  void tellWatchers(Desk desk, const std::vector<market::Row>& rows);
  void carryOut(Desk desk, market::Out out);
  Status keep(Desk desk, const market::Out& out);
  bool holds(const Status& stored);
  void goOn(Desk desk, market::Out out);
  void note(const std::string& key, const std::string& value);
  void forgetNoted();
  void post(market::Letter letter);
  void onLetter(const market::Letter& letter);
  void onAnswer(const market::Letter& letter);
  void answerFind(const market::Letter& letter);
  void act(const market::EscrowAct& act);
  void takeAgreed();
  void question(const std::string& to, const std::string& kind, json::object body, Answered done);
  std::string deliveredTo(const std::string& entity, const std::string& call) const;
  const kernel::EntityState* escrowOf(const std::string& entity) const;
  Result<json::object> takeQuote(const std::string& seller, const json::object& found, const json::object& answer);
  Result<market::Contract> contractFor(const ProposeWish& wish, const json::object& found);
  struct CallName {
    std::string contract, call;
    bool bought = false;
  };
  Result<CallName> callNamed(const std::string& name) const;
  json::array offers() const;
  static std::string randomHex(std::size_t bytes);

  MarketNode node_;
  const MarketSetup setup_;
  MarketIdentity identity_;
  std::string address_;
  std::unique_ptr<market::ContractDesk> contracts_;
  std::unique_ptr<market::BuyerDesk> buyer_;
  std::unique_ptr<market::SellerDesk> seller_;
  std::unique_ptr<market::HolderDesk> holder_;
  market::Allowance allowance_;
  std::unique_ptr<MarketRuns> runs_;
  MarketNodes nodes_;
  std::map<std::string, Question> questions_;
  std::set<std::string> agreed_;                                 // contracts that the buyer's desk has
  std::map<std::string, market::Opened<market::Offer>> quotes_;  // by digest
  market::Roots roots_;
  RevokedBook revoked_;
  std::map<std::uint64_t, Watcher> watchers_;
  MarketChanges changes_;  // that watchers are still to be told
  std::uint64_t nextWatch_ = 0;
  bool telling_ = false;
  market::Moment renewAt_, tellAt_;  // when the pass is looked at again, and lists are told again
  std::vector<std::string> noted_;   // keys of incidents that a round puts on record
  bool broken_ = false, closed_ = false, ticking_ = false, looking_ = false;
  std::shared_ptr<MarketHost*> self_ = std::make_shared<MarketHost*>(this);
  std::unique_ptr<MarketDoor> door_;  // ends first
};

}  // namespace witan::node
