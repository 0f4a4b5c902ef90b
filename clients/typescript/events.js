// Server-sent events of a body (HTML Living Standard, 9.2), bounded.
const EVENT_MAX = 8 * 1024 * 1024;

export async function* eventsOf(body) {
  let text = "", name = "", id = "", placed = false, data = [], size = 0;
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    const lines = (text + part).split("\n");
    text = lines.pop();
    if (text.length > EVENT_MAX) throw new Error("an event is too long");
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line === "") {
        // Without data: an id alone, which says where the reader is.
        if (data.length > 0 || placed) yield { name: name || "message", data: data.join("\n"), id };
        [name, data, size, placed] = ["", [], 0, false];
      } else if (line.startsWith("event:")) name = line.slice(6).trimStart();
      else if (line.startsWith("id:")) [id, placed] = [line.slice(3).trimStart(), true];
      else if (line.startsWith("data:")) {
        size += line.length;
        if (size > EVENT_MAX) throw new Error("an event is too long");
        data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
      }
    }
  }
}
