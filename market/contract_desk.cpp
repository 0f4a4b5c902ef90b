#include "market/contract_desk.h"

#include <algorithm>
#include <array>

namespace witan::market {

namespace {

Row rowOf(const std::string& digest, const Proposal& proposal) { return {"proposal/" + digest, toJson(proposal)}; }

bool isOver(ProposalStep step) { return step != ProposalStep::propose && step != ProposalStep::open; }

}  // namespace

Status ContractDesk::restore(const Row& row) {
  WITAN_TRY(proposal, fromRow<Proposal>(row));
  WITAN_TRY(opened, openEnvelope<Contract>(valueOf(proposal.envelope)));
  const std::string digest = opened.digest;
  proposals_[digest] = {std::move(opened), std::move(proposal), {}};
  return okStatus();
}

const ContractDesk::Known* ContractDesk::find(std::string_view id) const {
  const auto at =
      std::ranges::find_if(proposals_, [&](const auto& each) { return each.second.opened.document.id == id; });
  return at == proposals_.end() ? nullptr : &at->second;
}

Result<Out> ContractDesk::propose(const Contract& contract, const json::array& sellersGrants, Moment now,
                                  json::value quote) {
  if (contract.buyer.org != org_ || keyOf(contract.buyer.key) != key_.publicKey())
    return invalid("the contract is of another buyer");
  Out out;
  if (const Known* before = find(contract.id)) {
    Known& known = proposals_.at(before->opened.digest);
    if (known.proposal.step == ProposalStep::refused) {
      ++known.proposal.attempt;
      enter(known, ProposalStep::open, "", now, out);
    }
    return out;
  }
  if (const std::string flaw = termsFlaw(contract, now); !flaw.empty()) return invalid(flaw);
  Proposal proposal{sealedDocument(contract, {&key_, 1}), {}};
  json::array grants = grants_;
  grants.insert(grants.end(), sellersGrants.begin(), sellersGrants.end());
  proposal.grants = std::move(grants);
  proposal.offer = std::move(quote);
  const std::string digest = toHex(sha256(toJson(contract)));
  WITAN_DO(restore(rowOf(digest, proposal)));
  out.firm = true;
  enter(proposals_.at(digest), ProposalStep::propose, "", now, out);
  return out;
}

void ContractDesk::enter(Known& known, ProposalStep step, const std::string& reason, Moment now, Out& out) {
  known.proposal.step = step;
  known.proposal.reason = reason;
  known.retry.reset();
  out.rows.push_back(rowOf(known.opened.digest, known.proposal));
  send(known, now, out);
}

Letter ContractDesk::letterOf(const Known& known) const {
  const Contract& c = known.opened.document;
  const bool open = known.proposal.step == ProposalStep::open;
  Letter letter{org_,
                open ? c.escrow : c.seller.org,
                stepId(known.opened.digest, enumName(known.proposal.step), known.proposal.attempt),
                open ? "open" : "propose",
                {{"contract", valueOf(known.proposal.envelope)},
                 {"entity", known.opened.digest},
                 {"grants", open ? known.proposal.grants : json::value(grants_)}}};
  if (!open && !known.proposal.offer.is_null()) letter.body["offer"] = known.proposal.offer;
  return letter;
}

void ContractDesk::send(Known& known, Moment now, Out& out) {
  if (isOver(known.proposal.step) || !known.retry.due(now)) return;
  known.retry.tried(now);
  out.letters.push_back(letterOf(known));
}

Out ContractDesk::tick(Moment now) {
  Out out;
  for (auto& [digest, known] : proposals_) send(known, now, out);
  return out;
}

void ContractDesk::hurry() {
  for (auto& [digest, known] : proposals_) known.retry.hurry();
}

Out ContractDesk::onLetter(Letter letter, Moment now) {
  Out out;
  if (letter.kind != "answer") return out;
  trim(letter);
  for (auto& [digest, known] : proposals_) {
    if (!letter.id.starts_with(digest) || isOver(known.proposal.step)) continue;
    const Letter asked = letterOf(known);
    if (asked.id == letter.id && asked.to == letter.from) answered(known, letter.body, now, out);
  }
  return out;
}

void ContractDesk::answered(Known& known, const json::object& body, Moment now, Out& out) {
  if (body.contains("busy")) return;
  if (known.proposal.step == ProposalStep::open) {
    if (textOf(body, "outcome") == "approved") return enter(known, ProposalStep::agreed, "", now, out);
    const std::string rule = textOf(body, "invariant"), why = textOf(body, "message");
    return enter(known, ProposalStep::refused, rule.empty() ? why : rule + " " + why, now, out);
  }
  const json::value* envelope = body.if_contains("contract");
  auto signed_ = envelope == nullptr ? Result<Opened<Contract>>(notFound(textOf(body, "declined")))
                                     : openEnvelope<Contract>(*envelope);
  if (!signed_.ok()) return enter(known, ProposalStep::declined, signed_.error().message, now, out);
  const Contract& c = known.opened.document;
  // Of another text, or without the seller's signature, it is no answer: the seller is asked again.
  const std::array keys{keyOf(c.buyer.key), keyOf(c.seller.key)};
  const SignedText both = signedOnlyBy(signed_->text, keys);
  if (signed_->digest != known.opened.digest || both.envelope.signatures.size() != keys.size()) return;
  known.proposal.envelope = toJson(both.envelope);
  enter(known, ProposalStep::open, "", now, out);
}

}  // namespace witan::market
