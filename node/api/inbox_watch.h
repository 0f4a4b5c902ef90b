// InboxWatch: tells the readers of streams what waits for people at this node. A reader is told everything that waits,
// oldest first; from then on of each item that comes, changes or goes. One whose connection takes less than there is to
// tell begins anew, so that what waits for it is bounded.
//
// It looks once a second, for all readers together: what comes and goes is found at once, what changes of an item among
// 20 of them a look. For the control API, on the loop's thread; daemon and claims outlive it. Its readers keep it.
#pragma once

#include <array>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "net/http_server.h"
#include "node/api/inbox_items.h"

namespace witan::node::api {

WITAN_STRUCT(InboxChange,
             (Omittable<std::uint64_t>, waiting,
              "A beginning: so many wait and are told now; what the reader was told before is void"),
             (Omittable<InboxItem>, item, "Waits: it has come, or is not as it was told last"),
             (Omittable<std::string>, gone, "Id of an item that does not wait any more"))

class InboxWatch : public std::enable_shared_from_this<InboxWatch> {
 public:
  InboxWatch(Daemon& daemon, const InboxClaims& claims) : daemon_(daemon), claims_(claims) {}

  // Until the stream is gone.
  void add(std::shared_ptr<net::HttpStream> stream);

 private:
  using Places = std::array<std::set<InboxPlace>, enumNames<InboxKind>().size()>;
  struct Reader {
    std::shared_ptr<net::HttpStream> stream;
    bool begun = false, whole = false;
    std::optional<InboxPlace> upTo{};  // of what it has been told, until it is whole
  };

  void lookLater(std::int64_t ms);
  void look();
  void compare(const Listing& listing, const InboxIndex& index);
  void choose(Listing& listing);
  void tellItems(const Inbox& inbox, const std::vector<InboxPlace>& places);
  void tell(Reader& reader, const std::string& text);
  static bool fits(const Reader& reader, const std::string& text);
  void fail();
  // The next of all kinds.
  const InboxPlace* behind(const std::optional<InboxPlace>& place) const;

  Daemon& daemon_;
  const InboxClaims& claims_;
  std::list<Reader> readers_;
  bool looking_ = false;
  std::uint64_t turn_ = 0;  // of the timers the newest counts
  Places known_;
  std::set<InboxPlace> fresh_;                 // come, or come again, and not told yet
  std::map<std::string, std::uint64_t> told_;  // fingerprint of it, by id
  std::optional<InboxPlace> looked_;           // the last that was compared with it
};

}  // namespace witan::node::api
