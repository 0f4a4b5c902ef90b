#include "cli/client/device_names.h"

#include "cli/client/verb.h"

namespace witan::node {

DeviceNames deviceNames(const ControlClient& client) {
  DeviceNames names;
  const auto answer = client.get("/v1/devices");
  if (!answer.ok()) return names;
  for (const json::value& device : rowsOf(*answer, "devices"))
    names.add(shown(device, "device"), shown(device, "name"));
  return names;
}

}  // namespace witan::node
