// The seller's desk: contracts countersigned if they narrow an offer, orders run once, evidence recorded, delivered,
// claimed.
//
//   check (is the money held?) -> run -> record -> deliver -> window -> claim -> ended
//        \-> forgotten, or decline -> ended (there is too little time, or it cannot be delivered)
//
// A run begins when the holder says that the money is held and time enough is left; what it made leaves when the holder
// has recorded the delivery, and not before. It sends no evidence that does not verify. Of what a partner sends only
// that is kept which was verified, and an order only once there is money for it. See market/letters.h.
#pragma once

#include <set>

#include "market/letters.h"

namespace witan::market {

WITAN_ENUM(SellerStep, check, run, record, deliver, window, claim, decline, ended)

struct SellerCall {
  std::string contract, call, order;  // order: envelope
  std::vector<std::string> disclosures;
  SellerStep step = SellerStep::check;
  std::uint64_t attempt = 0;
  std::string end;        // "paid", "declined", "unpaid"
  std::string statement;  // envelope, once the run has ended
  LongText bundle;        // once the statement is recorded
  json::value transcript, output;
  bool received = false;          // by the buyer
  std::optional<Moment> claimAt;  // once the holder has recorded the delivery
  WITAN_MEMBERS(SellerCall, contract, call, order, disclosures, step, attempt, end, statement, bundle, transcript,
                output, received, claimAt)
};

struct SellerContract {
  std::string envelope;
  json::value grants;             // the buyer's for its key
  Omittable<std::string> entity;  // in older rows; not read
  WITAN_MEMBERS(SellerContract, envelope, grants, entity)
};

struct RunResult {
  json::value output;
  json::array transcript;
  Budget usage;
  Natural charge = 0;
  Words locales;
  std::vector<Model> models;
  RunOutcome outcome = RunOutcome::completed;
  Moment startedAt, endedAt;
};

inline constexpr std::size_t kMostOffers = 256;
inline constexpr std::size_t kUnusedContracts = 256;  // of one buyer, without a call
inline constexpr std::size_t kUncheckedOrders = 64;   // of one buyer, until the holder has answered
inline constexpr std::size_t kRunsAtOnce = 4;         // of one buyer: an order's seconds pass while its run waits
inline constexpr const char* kOffered = "offer/";     // rows of offers
inline constexpr const char* kQuoted = "quoted/";     // and of those that were quoted and taken
inline constexpr std::int64_t kQuoteSeconds = 3'600;  // for which a quote is valid

struct SellerSetup {
  std::string org;
  SigningKey key, evidenceKey;
  std::string log;                  // verifier key of its ledger
  std::vector<std::string> offers;  // envelopes
  json::array grants;               // its own
  Roots roots;
  std::set<std::string> holders;  // whom it accepts as escrow
};

class SellerDesk {
 public:
  explicit SellerDesk(SellerSetup setup);
  void trust(Roots roots) { setup_.roots = std::move(roots); }

  // Errors: it is no row of this desk.
  Status restore(const Row& row);
  Out onLetter(Letter letter, Moment now);
  // The run of `externalId` has ended. Twice is once.
  Out runEnded(const std::string& externalId, const RunResult& result, Moment now);
  // The statement stands in the ledger.
  Out recorded(const std::string& externalId, const json::value& receipt, Moment now);
  Out tick(Moment now);
  // A partner has come back: what waits for it is tried at once.
  void hurry();

  // Signs and keeps an offer. Errors: another seller's; kMostOffers.
  Result<Out> publish(const Offer& offer);
  // Claims now what was delivered, for a person who does not wait for the end of the window or of a retry. Errors: no
  // such call; nothing is to be claimed.
  Result<Out> claim(const std::string& contract, const std::string& call, Moment now);

  const SellerCall* find(const std::string& contract, const std::string& call) const;
  // Null: there is none.
  const Contract* contract(const std::string& digest) const;
  std::vector<const SellerCall*> calls() const;
  const std::map<std::string, Opened<Offer>>& offers() const { return offers_; }  // by digest
  std::vector<std::string> contracts() const;                                     // digests

 private:
  struct Known {
    Opened<Contract> opened;
    SellerContract kept;
  };
  struct Live {
    SellerCall call;
    Opened<Order> order;
    Retry retry, showing;
  };

  // What runs of a capability have taken so far.
  struct Need {
    Budget budget;
    Words locales;
    std::vector<Model> models;
  };
  void learn(const SellerCall& call);
  void onCancel(const Letter& letter, Moment now, Out& out);
  bool mayRun(const std::string& id);
  std::string belowNeed(const Capability& capability, const Budget& budget, const Words& locales, const Offer& offer,
                        const std::vector<Model>& models) const;
  json::object onPropose(const Letter& letter, Moment now, Out& out);
  json::object onQuote(const Letter& letter, Moment now) const;
  const Opened<Offer>* offerOf(const std::string& digest) const;
  json::object onOrder(const Letter& letter, Moment now, Out& out);
  std::string whyNot(const Opened<Contract>& contract, const Opened<Offer>* offer, const Letter& letter,
                     Moment now) const;
  std::string whyNot(const Opened<Order>& order, const Letter& letter, const Known& contract) const;
  std::string outOfTime(const Order& order, const Contract& contract, Moment now) const;
  void onAnswer(const Letter& letter, Moment now, Out& out);
  void checked(Live& live, const json::object& body, Moment now, Out& out);
  void actAnswered(Live& live, const json::object& body, Moment now, Out& out);
  void enter(Live& live, SellerStep step, Moment now, Out& out);
  void again(Live& live, Moment now, Out& out);
  void end(Live& live, const std::string& how, Moment now, Out& out);
  void send(Live& live, Moment now, Out& out);
  void show(Live& live, Moment now, Out& out);
  Letter letterOf(const Live& live) const;
  Statement statementOf(const Live& live, const RunResult& result) const;
  json::object bundleOf(const Live& live, const json::value& receipt) const;
  bool hasPlaceFor(const std::string& org) const;
  bool mayPropose(const std::string& org) const;
  json::array grantOf(const json::value& grants, const Opened<Contract>& contract) const;
  const Contract& contractOf(const Live& live) const { return contracts_.at(live.call.contract).opened.document; }

  SellerSetup setup_;
  std::map<std::string, Opened<Offer>> offers_, quoted_;                // by digest
  std::map<std::string, Known> contracts_;                              // by digest
  std::map<std::pair<std::string, std::string>, std::string> digests_;  // by buyer and contract id
  std::map<std::string, Live> calls_;                                   // by external id
  std::map<std::string, Need> needs_;                                   // by digest of a capability
  std::set<std::string> running_;                                       // by external id: runs that this process began
  Allowance allowance_;
};

}  // namespace witan::market
