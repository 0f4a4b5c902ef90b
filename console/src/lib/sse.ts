// Server-sent events from a stream of text (HTML Living Standard, section 9.2.6), read by fetch: an EventSource cannot
// send a token. Bounded: an event larger than the limit ends the stream.

export interface ServerEvent {
  event: string;
  data: string;
  id: string;
}

const kMostEventText = 8 << 20;

export class EventParser {
  private rest = '';
  private event = '';
  private data: string[] = [];
  private size = 0;
  private id = '';

  // The events that this piece completes. Throws if one is too large.
  push(piece: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    const lines = (this.rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? '';
    if (this.rest.length > kMostEventText) throw new Error('an event is too large');
    for (const line of lines) {
      if (line === '') {
        if (this.data.length > 0)
          events.push({ event: this.event || 'message', data: this.data.join('\n'), id: this.id });
        this.event = '';
        this.data = [];
        this.size = 0;
        continue;
      }
      const colon = line.indexOf(':');
      if (colon === 0) continue;
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (name === 'event') this.event = value;
      else if (name === 'id') this.id = value;
      else if (name === 'data') {
        this.size += value.length;
        if (this.size > kMostEventText) throw new Error('an event is too large');
        this.data.push(value);
      }
    }
    return events;
  }
}
