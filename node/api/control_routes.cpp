#include "node/api/control_routes.h"

#include <iterator>

namespace witan::node {

const std::vector<ControlRoute>& controlRoutes() {
  static const std::vector<ControlRoute> routes = [] {
    std::vector<ControlRoute> all;
    for (auto area :
         {api::statusRoutes, api::clusterRoutes, api::partitionRoutes, api::domainRoutes, api::requestRoutes,
          api::ledgerRoutes, api::backupRoutes, api::commandRoutes, api::journalRoutes, api::agentWorkRoutes}) {
      std::vector<ControlRoute> some = area();
      all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    }
    return all;
  }();
  return routes;
}

}  // namespace witan::node
