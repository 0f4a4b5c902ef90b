#include "cli/format/why_words.h"

#include "base/time.h"
#include "base/utf8.h"

namespace witan::node {

using operations::Why;
using operations::WhyLink;

namespace {

constexpr int kBoxLeft = 60, kBoxWidth = 900, kBoxHeight = 44, kBoxStep = 62, kBoxMargin = 12;
constexpr std::size_t kMostLetters = 120;
constexpr const char* kWhyHead =
    "<style>text{font:12px sans-serif;fill:#222}.kind{font-weight:bold}.at{fill:#666}rect{fill:#fff;stroke:#444}"
    "path{fill:none;stroke:#888}</style>\n"
    "<defs><marker id=\"end\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
    "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" style=\"fill:#888;stroke:none\"/></marker></defs>\n";

std::string xmlText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20)
      out += ' ';
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

std::string causeNumbers(const WhyLink& link) {
  std::string words;
  for (const std::uint64_t cause : link.causes) words += concat(words.empty() ? "  <- " : ", ", cause + 1);
  return words;
}

}  // namespace

std::string whyText(const Why& why) {
  std::string out;
  for (std::size_t i = 0; i < why.links.size(); ++i) {
    const WhyLink& link = why.links[i];
    out += concat(i + 1, "  ", enumName(link.kind), link.at ? "  " + formatTime(*link.at) : std::string(),
                  causeNumbers(link), "\n   ", link.what, "\n");
    if (const json::object* detail = link.detail.if_object(); detail != nullptr && detail->contains("proof"))
      out += concat("   leaf ", std::string_view(detail->at("leaf").get_string()),
                    "; proof: ", std::string_view(detail->at("proof").get_string()), "\n");
  }
  return out;
}

std::string whySvg(const Why& why) {
  std::string boxes, arrows;
  for (std::size_t i = 0; i < why.links.size(); ++i) {
    const WhyLink& link = why.links[i];
    const int top = kBoxMargin + static_cast<int>(i) * kBoxStep;
    boxes += concat("<rect x=\"", kBoxLeft, "\" y=\"", top, "\" width=\"", kBoxWidth, "\" height=\"", kBoxHeight,
                    "\" rx=\"4\"/>\n<text class=\"kind\" x=\"", kBoxLeft + 10, "\" y=\"", top + 18, "\">",
                    enumName(link.kind), "</text>\n<text class=\"at\" x=\"", kBoxLeft + 110, "\" y=\"", top + 18, "\">",
                    link.at ? formatTime(*link.at) : std::string(), "</text>\n<text x=\"", kBoxLeft + 10, "\" y=\"",
                    top + 35, "\">", xmlText(clip(link.what, kMostLetters)), "</text>\n");
    for (const std::uint64_t cause : link.causes) {
      const int from = kBoxMargin + static_cast<int>(cause) * kBoxStep + kBoxHeight / 2;
      const int bend = std::max(4, kBoxLeft - 12 - 8 * static_cast<int>(i - cause));
      arrows += concat("<path d=\"M", kBoxLeft, " ", from, "C", bend, " ", from, " ", bend, " ", top + kBoxHeight / 2,
                       " ", kBoxLeft, " ", top + kBoxHeight / 2, "\" marker-end=\"url(#end)\"/>\n");
    }
  }
  const int width = kBoxLeft + kBoxWidth + kBoxMargin;
  const int height = 2 * kBoxMargin + static_cast<int>(why.links.size()) * kBoxStep;
  return concat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
                "\" viewBox=\"0 0 ", width, " ", height, "\">\n", kWhyHead, arrows, boxes, "</svg>\n");
}

}  // namespace witan::node
