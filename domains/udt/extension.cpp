#include "domains/extension.h"

#include "domains/udt/agents/agents.h"
#include "domains/udt/clinic_feed.h"
#include "domains/udt/udt.h"

namespace witan::domains::udt {

const Extension& Udt::extension() {
  static const Extension extension{.agents = {&workers::udtBilling(), &workers::udtClinical(), &workers::udtLab()},
                                   .feed = {"a clinic", clinicFeed}};
  return extension;
}

}  // namespace witan::domains::udt
