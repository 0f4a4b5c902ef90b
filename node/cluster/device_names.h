// DeviceNames: device ids in sentences for people become the names that the roster gives them: "lab (a46244d4)". What
// programs read keeps its ids. A value; one thread at a time.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace witan::node {

class DeviceNames {
 public:
  void add(std::string id, std::string name) { names_[std::move(id)] = std::move(name); }

  // Every id that is known, wherever it stands in the text; of a writer's name, "lab (a46244d4@9c8f73c3)". Others stay
  // as they are. O(bytes log devices).
  std::string in(std::string_view text) const;

 private:
  std::map<std::string, std::string, std::less<>> names_;
};

}  // namespace witan::node
