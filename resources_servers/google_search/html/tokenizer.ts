export interface HtmlHandler {
  open(name: string, attributes: ReadonlyMap<string, string>): void;
  close(name: string): void;
  /** Text with its character references still in place. */
  text(text: string): void;
}

/** Elements whose content is no markup; it ends at their own closing tag only. */
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
/** What a tag says beyond this length is not looked at. */
const MAX_TAG = 64 * 1024;

/**
 * Cuts HTML into tags and text as it arrives, in one pass and without building a tree: whatever comes in, the work is proportional to it.
 * Errors in the markup are read as browsers read them, roughly.
 */
export class HtmlTokenizer {
  readonly #handler: HtmlHandler;
  #buffer = "";
  #raw: { name: string; end: RegExp } | undefined;
  #inComment = false;
  /** Inside a tag too long to be kept: everything up to its end is passed over. */
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
    // What cannot grow into anything is let go, so that an unclosed comment or script costs no memory.
    if (this.#inComment) this.#buffer = this.#buffer.slice(-2);
  }

  /** Reads what begins at the position and gives the next one; undefined where more input is needed. */
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
      // A tag that never ends swallows the rest, as in browsers.
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
    // The closing tag may have begun at the end of what is here.
    const safe = final ? this.#buffer.length : this.#buffer.length - raw.name.length - 2;
    if (safe <= position) return undefined;
    this.#handler.text(this.#buffer.slice(position, safe));
    return safe;
  }
}

/** The index of the `>` that ends the tag, or -1; quoted attribute values may hold others. */
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

/** Only a quote that opens an attribute's value counts; browsers read stray ones as part of a name. */
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
