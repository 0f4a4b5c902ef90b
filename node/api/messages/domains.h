// Requests and answers of the control API about domains; one domain is a kernel::DomainDescription. Values.
#pragma once

#include "base/json_schema.h"

namespace witan::node::api {

struct DomainSummary {
  std::string name, title;
  std::vector<std::string> roles;
  std::string digest;
  WITAN_MEMBERS(DomainSummary, name, title, roles, digest)
  static constexpr std::array notes{
      MemberNote{"name", "Name of the domain"}, MemberNote{"title", "Title of the domain"},
      MemberNote{"roles", "Roles that propose"}, MemberNote{"digest", "Digest of the declaration and the policy"}};
};

struct Domains {
  std::vector<DomainSummary> domains;
  WITAN_MEMBERS(Domains, domains)
  static constexpr std::array notes{MemberNote{"domains", "Domains of this node"}};
};

struct DomainRequest {
  std::string domain;
  WITAN_MEMBERS(DomainRequest, domain)
  static constexpr std::array notes{MemberNote{"domain", "Name of the domain", 1}};
};

}  // namespace witan::node::api
