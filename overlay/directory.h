// Directory: the members of the cluster and where they are, as the admin has signed it. What other devices say of
// addresses is not asked for, so a lie about them has no place to go.
//
// Whoever implements it decides the thread. A Place stays valid until the directory changes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/seams.h"

namespace witan::overlay {

struct Place {
  std::string site;  // a label, or what stands for one (a network prefix)
  std::string host;  // the address without its port; empty: it cannot be dialled
};

class Directory {
 public:
  virtual ~Directory() = default;

  // Null: it is no active member.
  virtual const Place* find(std::string_view device) const = 0;
  // Any member but this device, each as likely as another. Empty: there is none.
  virtual std::string draw(Random& random) const = 0;
  // How many different ones its members have.
  virtual std::size_t sites() const = 0;
  virtual std::size_t hosts() const = 0;
};

}  // namespace witan::overlay
