// The rows M of `witan conformance kernels`: evidence and escrow of the market (docs/market.md), on the code that runs.
// Each function is a row, or the twin of one: then it passes if the broken thing was found out.
#pragma once

#include "lab/conformance/kernels.h"

namespace witan::agents::conformance {

Finding evidenceIsComplete();  // M-01
Finding rootAloneShows();
Finding settlementIsIdempotent();  // M-02
Finding doubleSettlementShows();
Finding localesNarrowAcrossOrganisations();  // M-03
Finding widerDocumentShows();
Finding moneyIsConserved();  // M-04
Finding madeMoneyShows();
Finding compensationsAreFast();  // E-6
Finding passiveBuyerShows();

}  // namespace witan::agents::conformance
