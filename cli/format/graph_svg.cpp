// drawSvg(). Ids and types need no escaping: their letters are [A-Za-z0-9._:@/+-].
#include <algorithm>

#include "cli/format/graph_drawing.h"
#include "cli/format/graph_layout.h"

namespace witan::node {

using namespace graph;

namespace {

constexpr int kHeight = 46, kDown = 110, kLetter = 7, kMargin = 30, kGap = 40, kBend = 60;
constexpr const char* kHead =
    "<style>text{font:12px sans-serif;fill:#222;text-anchor:middle}rect{fill:#fff;stroke:#444}"
    "path{fill:none;stroke:#444}.label{font-size:11px;fill:#555;paint-order:stroke;stroke:#fff;stroke-width:3px}."
    "guarded{stroke-dasharray:5 4}</style>\n"
    "<defs><marker id=\"end\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
    "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" style=\"fill:#444;stroke:none\"/></marker></defs>\n";

std::string number(int value) { return std::to_string(value); }
std::string at(int x, int y) { return number(x) + " " + number(y); }

std::string text(int x, int y, const std::string& words, const char* kind = "") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\"" + kind + ">" + words + "</text>\n";
}

class Picture {
 public:
  Picture(const Document& document, const RunCounts& counts)
      : document_(document), counts_(counts), places_(layOut(document)) {
    for (const Node& node : document.nodes)
      width_ = std::max(width_, kLetter * int(std::max(node.id.size() + counts.ofNode(node.id).size(),
                                                       std::string(toString(node.kind)).size())) +
                                    24);
    std::size_t columns = 0, layers = 0;
    for (const Place& place : places_) {
      columns = std::max(columns, place.column + 1);
      layers = std::max(layers, place.layer + 1);
    }
    right_ = kMargin + int(columns) * (width_ + kGap);
    bottom_ = 2 * kMargin + int(layers) * kDown;
  }

  std::string draw() {
    std::string nodes, edges;
    for (const Edge& edge : document_.edges) edges += drawEdge(edge);
    for (std::size_t v = 0; v < places_.size(); ++v) nodes += drawNode(v);
    const std::string size = number(right_ + aside_ + longest_ * kLetter + kMargin);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" height=\"" + number(bottom_) +
           "\" viewBox=\"0 0 " + size + " " + number(bottom_) + "\">\n" + kHead + edges + nodes + "</svg>\n";
  }

 private:
  int left(std::size_t v) const { return kMargin + int(places_[v].column) * (width_ + kGap); }
  int middle(std::size_t v) const { return left(v) + width_ / 2; }
  int top(std::size_t v) const { return kMargin + int(places_[v].layer) * kDown; }

  std::string box(std::size_t v, int inset) const {
    return "<rect x=\"" + number(left(v) + inset) + "\" y=\"" + number(top(v) + inset) + "\" width=\"" +
           number(width_ - 2 * inset) + "\" height=\"" + number(kHeight - 2 * inset) + "\" rx=\"4\"/>\n";
  }

  std::string drawNode(std::size_t v) const {
    const Node& node = document_.nodes[v];
    return box(v, 0) + (node.monitor ? box(v, 4) : "") +
           text(middle(v), top(v) + 20, node.id + counts_.ofNode(node.id)) +
           text(middle(v), top(v) + 36, toString(node.kind), " class=\"label\"");
  }

  std::string drawEdge(const Edge& edge) {
    const std::size_t from = document_.positionOf(edge.from), to = document_.positionOf(edge.to);
    std::string label = edge.type + counts_.ofEdge(edge.name);
    if (const auto bound = edge.bound()) label += " (at most " + number(int(*bound)) + ")";
    if (const auto measure = edge.measure()) label += " (" + *measure + " falls)";
    const std::string kind = edge.guard ? " class=\"guarded\"" : "";
    if (places_[to].layer > places_[from].layer) {
      const int startY = top(from) + kHeight, endY = top(to), bend = (endY - startY) / 2;
      return "<path" + kind + " d=\"M" + at(middle(from), startY) + "C" + at(middle(from), startY + bend) + " " +
             at(middle(to), endY - bend) + " " + at(middle(to), endY) + "\" marker-end=\"url(#end)\"/>\n" +
             text((middle(from) + middle(to)) / 2, (startY + endY) / 2 + 4, label, " class=\"label\"");
    }
    // What leads back goes round the right side, each edge on a line of its own.
    aside_ += kBend / 3;
    longest_ = std::max(longest_, int(label.size()) + 2);
    const int startY = top(from) + kHeight * 2 / 3, endY = top(to) + kHeight / 3, x = right_ + aside_;
    return "<path" + kind + " d=\"M" + at(left(from) + width_, startY) + "C" + at(x, startY) + " " + at(x, endY) + " " +
           at(left(to) + width_, endY) + "\" marker-end=\"url(#end)\"/>\n" +
           text(x - (x - std::max(left(from), left(to)) - width_) / 4 + kLetter * int(label.size()) / 2,
                (startY + endY) / 2 + 4 + aside_ / 4, label, " class=\"label\"");
  }

  const Document& document_;
  const RunCounts& counts_;
  const std::vector<Place> places_;
  int width_ = 80, right_ = 0, bottom_ = 0;
  int aside_ = 0, longest_ = 0;  // of the edges that lead back
};

}  // namespace

std::string drawSvg(const Document& document, const RunCounts& counts) { return Picture(document, counts).draw(); }

}  // namespace witan::node
