// What CSAF and CVE documents share. For this folder only.
#pragma once

#include "base/time.h"
#include "domains/disclosure/records/export.h"

namespace witan::domains::disclosure {

inline bool isUrl(std::string_view text) {
  const bool web = text.starts_with("https://") || text.starts_with("http://");
  return web && text.size() > text.find("//") + 2 && text.size() <= 2048 &&
         text.find_first_of(" \t\r\n\"<>\\^`{|}") == std::string_view::npos;
}

inline std::string pageOf(std::string_view v, const Publisher& publisher) {
  std::string page = publisher.site;
  if (page.back() != '/') page += '/';
  // Names are keys; what a URL can't hold is escaped (RFC 3986 section 2.1).
  for (unsigned char c : v) {
    if (('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '-' || c == '.' ||
        c == '_' || c == '~')
      page += static_cast<char>(c);
    else {
      constexpr char kDigits[] = "0123456789ABCDEF";
      page += '%';
      page += kDigits[c >> 4];
      page += kDigits[c & 15];
    }
  }
  return page;
}

// Was a fix out when it was disclosed? Its link is disc.patchLink.
inline bool hasFix(const VulnRow& row) { return row.discPatchLink && !row.discPatchLink->empty(); }

inline std::string titleOf(std::string_view v, const VulnRow& row) {
  std::string title = "Vulnerability " + std::string(v);
  if (row.discCve) title += " (" + *row.discCve + ")";
  if (row.orgs && !row.orgs->empty()) title += " in software of " + row.orgs->front();
  return title;
}

inline std::string descriptionOf(std::string_view v, const VulnRow& row) {
  std::string text = titleOf(v, row) + ", disclosed " + formatTime(*row.discAt) + ". ";
  if (hasFix(row))
    text += "A fix has been released: " + *row.discPatchLink + ".";
  else if (row.discNoPatchReason == "PUBLIC_KNOWLEDGE")
    text += "No fix was available; the vulnerability was publicly known.";
  else
    text += "No fix was available when its embargo elapsed.";
  if (row.severity) text += " Severity: " + *row.severity + ".";
  if (row.exploitObservedAt) text += " Exploitation has been observed.";
  return text;
}

}  // namespace witan::domains::disclosure
