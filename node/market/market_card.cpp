#include "node/market/market_card.h"

#include <algorithm>

#include "base/base64url.h"
#include "base/json_codec.h"

namespace witan::node {

namespace {

constexpr std::string_view kExtension = "urn:witan:market:v1";

struct CardParams {
  market::Hex root;
  market::Seller seller;
  std::vector<json::value> grants;
  json::object skills;
  WITAN_MEMBERS(CardParams, root, seller, grants, skills)
};
struct JwsHeader {
  market::Fixed<"EdDSA"> alg;
  market::Hex kid;  // the public key
  WITAN_MEMBERS(JwsHeader, alg, kid)
};

std::string signedText(const std::string& header, const json::object& card) {
  return header + "." + toBase64Url(canonicalJson(card));
}

json::object skillOf(const CardSkill& skill) {
  const market::Offer& offer = skill.offer->document;
  json::array modes{"application/json"};
  return {{"id", std::string(offer.capability.graph)},
          {"name", std::string(offer.capability.graph)},
          {"description", concat("Runs of the graph ", offer.capability.graph, ", with evidence")},
          {"tags", json::array{std::string(offer.currency)}},
          {"inputModes", modes},
          {"outputModes", modes}};
}

json::object termsOf(const CardSkill& skill) {
  json::object terms = parseJson(toJson(skill.offer->document)).value().get_object();
  json::object chosen{{"offer", skill.offer->digest}};
  for (const char* member : {"capability", "locales", "policyEpoch", "models", "perCall", "currency"})
    chosen[member] = terms.at(member);
  if (skill.document == nullptr) return chosen;
  for (const graph::Node& node : skill.document->nodes) {
    const bool in = node.kind == graph::NodeKind::ingress, out = node.kind == graph::NodeKind::egress;
    const std::vector<std::string>& types = in ? node.out : node.in;
    const graph::MessageType* type = (in || out) && !types.empty() ? skill.document->type(types[0]) : nullptr;
    if (type != nullptr) chosen[in ? "input" : "output"] = type->source;
  }
  return chosen;
}

}  // namespace

json::object marketCard(const MarketIdentity& identity, const std::string& address,
                        const std::vector<CardSkill>& skills) {
  json::array list;
  CardParams params;
  params.root = toHex(identity.root);
  params.seller = {market::Word(identity.org), toHex(identity.contract.publicKey()),
                   toHex(identity.evidence.publicKey()), market::Word(identity.logKey())};
  params.grants.assign(identity.grants.begin(), identity.grants.end());
  for (const CardSkill& skill : skills) {
    list.emplace_back(skillOf(skill));
    params.skills[skill.offer->document.capability.graph] = termsOf(skill);
  }
  json::array modes{"application/json"};
  json::object card{
      {"name", identity.org},
      {"description", "Sells runs of graphs with evidence, through the market of Witan"},
      {"version", "1"},
      {"provider", json::object{{"organization", identity.org}, {"url", "witan://" + address}}},
      {"supportedInterfaces",
       json::array{json::object{
           {"url", "witan://" + address}, {"protocolBinding", "urn:witan:market:1"}, {"protocolVersion", "1"}}}},
      {"capabilities",
       json::object{{"extensions",
                     json::array{json::object{
                         {"uri", kExtension}, {"required", true}, {"params", parseJson(toJson(params)).value()}}}}}},
      {"defaultInputModes", modes},
      {"defaultOutputModes", modes},
      {"skills", std::move(list)}};
  JwsHeader header;
  header.kid = toHex(identity.card.publicKey());
  const std::string text = toBase64Url(toJson(header));
  const Signature signature = identity.card.sign(signedText(text, card));
  card["signatures"] = json::array{json::object{{"protected", text}, {"signature", toBase64Url(asView(signature))}}};
  return card;
}

Result<CardReading> readMarketCard(const json::value& from, const std::string& org, const market::Roots& roots,
                                   market::Moment now) {
  const auto no = [&](const char* why) { return invalid(concat("the card of ", org, ": ", why)); };
  if (!from.is_object()) return no("it is no object");
  json::object card = from.get_object();
  boost::system::error_code none;
  const json::value* extension = from.find_pointer("/capabilities/extensions/0/params", none);
  const json::value* header = from.find_pointer("/signatures/0/protected", none);
  const json::value* signature = from.find_pointer("/signatures/0/signature", none);
  if (extension == nullptr || header == nullptr || !header->is_string() || signature == nullptr ||
      !signature->is_string())
    return no("it has no extension of the market, or no signature");
  CardParams params;
  WITAN_DO(readJson(*extension, params, "params"));
  WITAN_TRY(text, fromBase64Url(std::string(header->get_string())));
  WITAN_TRY(parsed, parseJson(text));
  JwsHeader jws;
  WITAN_DO(readJson(parsed, jws, "protected"));
  WITAN_TRY(bytes, fromBase64Url(std::string(signature->get_string())));
  card.erase("signatures");
  if (params.seller.org != org) return no("it is of another organisation");
  CardReading reading{params.seller, json::array(params.grants.begin(), params.grants.end())};
  if (!market::isGranted(reading.grants, roots, params.seller.org, jws.kid, market::GrantUse::card, now))
    return no("its root has not granted the key that signed it");
  const PublicKey key = market::keyOf(jws.kid);
  if (!verifySignature(asView(key), signedText(std::string(header->get_string()), card), bytes))
    return no("its signature does not hold");
  if (!market::isGranted(reading.grants, roots, params.seller.org, params.seller.key, market::GrantUse::contract, now))
    return no("its root has not granted the key that signs contracts");
  return reading;
}

}  // namespace witan::node
