#include "domains/extension.h"

#include "domains/disclosure/advice_tool.h"
#include "domains/disclosure/agents/worker.h"
#include "domains/disclosure/disclosure.h"
#include "domains/disclosure/embargo_seal.h"
#include "domains/disclosure/portfolio_feed.h"

namespace witan::domains::disclosure {

namespace {

std::shared_ptr<const agents::ContentSeal> embargoSeal(std::optional<std::string_view> clusterSecret) {
  return clusterSecret ? std::make_shared<const EmbargoSeal>(*clusterSecret) : std::make_shared<const EmbargoSeal>();
}

}  // namespace

const Extension& DisclosureDomain::extension() {
  static const Extension extension{.agents = {&workers::disclosureCommitments(), &workers::disclosurePatches(),
                                              &workers::disclosurePublisher(), &workers::disclosureReports()},
                                   .tools = {&adviceTool()},
                                   .seal = embargoSeal,
                                   .feed = {"a lab that discloses what it finds", portfolioFeed}};
  return extension;
}

}  // namespace witan::domains::disclosure
