// StreamPlaces: how many streams of events are open at once. A stream holds its connection for as long as its reader
// likes, so streams have a part of the connections only (net/http_server.h), and some of that part is the admin's.
//
// Main thread only. A place may outlive it.
#pragma once

#include <cstddef>
#include <memory>

#include "node/api/control_tokens.h"

namespace witan::node {

inline constexpr std::size_t kStreamPlaces = 64;
inline constexpr std::size_t kStreamPlacesOfAdmin = 16;  // of these

class StreamPlaces {
 public:
  using Place = std::shared_ptr<const void>;

  // A place, until the last copy of it is gone. Null: none is free.
  Place take(ControlRole role) {
    const bool admin = role == ControlRole::admin;
    if (taken_->admins + taken_->others >= kStreamPlaces) return nullptr;
    if (!admin && taken_->others >= kStreamPlaces - kStreamPlacesOfAdmin) return nullptr;
    ++(admin ? taken_->admins : taken_->others);
    return Place(taken_.get(), [taken = taken_, admin](const void*) { --(admin ? taken->admins : taken->others); });
  }

 private:
  struct Taken {
    std::size_t admins = 0, others = 0;
  };
  const std::shared_ptr<Taken> taken_ = std::make_shared<Taken>();
};

// What a reader is told for whom none is free.
inline Error noStreamPlace() {
  return {ErrorCode::unavailable, "as many streams of events are open as this node serves",
          "close one, or try again when another reader has left"};
}

}  // namespace witan::node
