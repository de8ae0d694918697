export interface HtmlHandler {
  open(name: string, attributes: ReadonlyMap<string, string>): void;
  close(name: string): void;
  /** Text whose character references are not decoded. */
  text(text: string): void;
}

/** Elements whose content is not markup; it ends only at their own closing tag. */
const RAW = new Set([
  "script",
  "style",
  "textarea",
  "title",
  "noscript",
  "iframe",
  "xmp",
  "noembed",
  "noframes",
]);
/** The part of a tag beyond this length is ignored. */
const MAX_TAG = 64 * 1024;

/**
 * Splits HTML into tags and text as it arrives, in one pass and without a tree: the work is proportional to the input.
 * Invalid markup is read roughly as browsers read it.
 */
export class HtmlTokenizer {
  readonly #handler: HtmlHandler;
  #buffer = "";
  #raw: { name: string; end: RegExp } | undefined;
  #inComment = false;
  /** Inside a tag that is too long to keep: everything up to its end is skipped. */
  #inLongTag = false;

  constructor(handler: HtmlHandler) {
    this.#handler = handler;
  }

  write(chunk: string): void {
    this.#buffer += chunk;
    this.#consume(false);
  }

  end(): void {
    this.#consume(true);
    this.#buffer = "";
  }

  #consume(final: boolean): void {
    let position = 0;
    for (;;) {
      const next = this.#step(position, final);
      if (next === undefined) break;
      position = next;
    }
    this.#buffer = this.#buffer.slice(position);
    // Drops input that cannot become part of a token, so that an unclosed comment or script uses no memory.
    if (this.#inComment) this.#buffer = this.#buffer.slice(-2);
  }

  /** Reads the token at the position and returns the next position; undefined if more input is needed. */
  #step(position: number, final: boolean): number | undefined {
    const text = this.#buffer;
    if (position >= text.length) return undefined;
    if (this.#inComment) {
      const end = text.indexOf("-->", position);
      if (end === -1) return undefined;
      this.#inComment = false;
      return end + 3;
    }
    if (this.#inLongTag) {
      const end = text.indexOf(">", position);
      this.#inLongTag = end === -1;
      return end === -1 ? text.length : end + 1;
    }
    if (this.#raw !== undefined) return this.#stepRaw(position, final, this.#raw);
    const tag = text.indexOf("<", position);
    if (tag !== position) {
      const end = tag === -1 ? text.length : tag;
      this.#handler.text(text.slice(position, end));
      return end;
    }
    if (text.startsWith("<!--", position)) {
      this.#inComment = true;
      return position + 4;
    }
    const lead = text[position + 1];
    if (lead === undefined || (lead === "!" && text.length < position + 4))
      return final ? this.#literal(position) : undefined;
    if (lead === "!" || lead === "?") {
      const end = text.indexOf(">", position);
      if (end === -1) return final ? text.length : undefined;
      return end + 1;
    }
    if (!/[A-Za-z/]/.test(lead)) return this.#literal(position);
    return this.#stepTag(position, final);
  }

  #literal(position: number): number {
    this.#handler.text("<");
    return position + 1;
  }

  #stepTag(position: number, final: boolean): number | undefined {
    const end = tagEnd(this.#buffer, position);
    if (end === -1) {
      // A tag that never ends consumes the rest, as in browsers.
      if (!final && this.#buffer.length - position <= MAX_TAG) return undefined;
      this.#inLongTag = true;
      return Math.min(this.#buffer.length, position + MAX_TAG);
    }
    const inside = this.#buffer.slice(position + 1, end);
    const closing = inside.startsWith("/");
    const name = /^\/?\s*([^\s/>]+)/.exec(inside)?.[1]?.toLowerCase();
    if (name === undefined) return end + 1;
    if (closing) this.#handler.close(name);
    else {
      this.#handler.open(name, attributesOf(inside));
      if (RAW.has(name)) this.#raw = { name, end: new RegExp(`</${name}(?=[\\s/>])`, "gi") };
    }
    return end + 1;
  }

  #stepRaw(position: number, final: boolean, raw: { name: string; end: RegExp }): number | undefined {
    raw.end.lastIndex = position;
    const found = raw.end.exec(this.#buffer);
    if (found !== null) {
      this.#handler.text(this.#buffer.slice(position, found.index));
      this.#raw = undefined;
      return found.index;
    }
    // The closing tag may have started at the end of the available input.
    const safe = final ? this.#buffer.length : this.#buffer.length - raw.name.length - 2;
    if (safe <= position) return undefined;
    this.#handler.text(this.#buffer.slice(position, safe));
    return safe;
  }
}

/** The index of the `>` that ends the tag, or -1. Quoted attribute values may contain other `>` characters. */
function tagEnd(text: string, start: number): number {
  const limit = Math.min(text.length, start + MAX_TAG);
  let quote = "";
  for (let index = start + 1; index < limit; index++) {
    const character = text[index] as string;
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === ">") return index;
    else if ((character === '"' || character === "'") && isAfterEquals(text, index, start)) quote = character;
  }
  return -1;
}

/** Only a quote that starts an attribute value counts; browsers treat stray quotes as part of a name. */
function isAfterEquals(text: string, index: number, start: number): boolean {
  let before = index - 1;
  while (before > start && index - before < 16 && /\s/.test(text[before] as string)) before--;
  return text[before] === "=";
}

const ATTRIBUTE = /([^\s=>/"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']*)))?/g;
const MAX_ATTRIBUTES = 200;

function attributesOf(tag: string): Map<string, string> {
  const attributes = new Map<string, string>();
  const start = tag.search(/[\s/]/);
  if (start === -1) return attributes;
  let count = 0;
  for (const [, name = "", double, single, bare] of tag.slice(start).matchAll(ATTRIBUTE)) {
    if (++count > MAX_ATTRIBUTES) break;
    const key = name.toLowerCase();
    if (!attributes.has(key)) attributes.set(key, double ?? single ?? bare ?? "");
  }
  return attributes;
}
