import { FormatError } from "nemo-gym/verify";
import { forbiddenInXml, xmlName } from "./xml-names.ts";

/** The events of a reader, in document order. */
export interface XmlHandler {
  open(name: string, attributes: [string, string][]): void;
  text(text: string): void;
  close(): void;
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
const declaration =
  /^<\?xml[ \t\n]+version[ \t\n]*=[ \t\n]*(?:"[\w.:-]+"|'[\w.:-]+')(?:[ \t\n]+encoding[ \t\n]*=[ \t\n]*(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?(?:[ \t\n]+standalone[ \t\n]*=[ \t\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\n]*\?>/;

const elementDeclaration = /<!ELEMENT[ \t\n]+[^\s<>&;]+[ \t\n]+(?:EMPTY|ANY|\([^<>&;]*\)[*+?]?)[ \t\n]*>/y;

/** Reads a well-formed XML document as strictly as expat: one root, matching tags, no custom entities. */
export class XmlReader {
  private readonly source: string;
  private readonly handler: XmlHandler;
  private position = 0;
  private readonly openTags: string[] = [];

  constructor(source: string, handler: XmlHandler) {
    this.source = source.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
    this.handler = handler;
  }

  read(): void {
    if (forbiddenInXml.test(this.source)) this.fail("not well-formed (invalid token)");
    this.position = declaration.exec(this.source)?.[0].length ?? 0;
    this.misc(true);
    if (!this.source.startsWith("<", this.position)) {
      this.fail(this.position >= this.source.length ? "no element found" : "syntax error");
    }
    this.element();
    while (this.openTags.length > 0) this.content();
    this.misc(false);
    if (this.position < this.source.length) this.fail("junk after document element");
  }

  private fail(message: string): never {
    throw new FormatError("xml", `${message} at character ${this.position + 1}`);
  }

  private skipSpace(): boolean {
    const start = this.position;
    while (" \t\n".includes(this.source[this.position] ?? "x")) this.position++;
    return this.position > start;
  }

  /** Reads comments, instructions and white space around the root; the document type is allowed only before it. */
  private misc(prolog: boolean): void {
    let doctype = !prolog;
    for (;;) {
      this.skipSpace();
      if (this.at("<!--")) this.comment();
      else if (this.at("<?")) this.instruction();
      else if (!doctype && this.at("<!DOCTYPE")) {
        doctype = true;
        this.doctype();
      } else return;
    }
  }

  private at(text: string): boolean {
    return this.source.startsWith(text, this.position);
  }

  /** Moves past the next `end` and returns the text before it. */
  private until(end: string, message: string): string {
    const found = this.source.indexOf(end, this.position);
    if (found < 0) this.fail(message);
    const text = this.source.slice(this.position, found);
    this.position = found + end.length;
    return text;
  }

  private comment(): void {
    this.position += 4;
    const text = this.until("--", "unclosed token");
    if (!this.at(">")) this.fail(`not well-formed: '--' inside the comment '${text.slice(0, 20)}'`);
    this.position++;
  }

  private instruction(): void {
    this.position += 2;
    const target = this.name();
    if (target.toLowerCase() === "xml") this.fail("XML or text declaration not at start of entity");
    if (!this.at("?>") && !this.skipSpace()) this.fail("not well-formed (invalid token)");
    this.until("?>", "unclosed token");
  }

  private doctype(): void {
    this.position += "<!DOCTYPE".length;
    if (!this.skipSpace()) this.fail("syntax error");
    this.name();
    for (;;) {
      this.skipSpace();
      const character = this.source[this.position];
      if (character === ">") break;
      if (character === '"' || character === "'") {
        this.position++;
        this.until(character, "unclosed token");
      } else if (character === "[") this.internalSubset();
      else if (character !== undefined && /[A-Z]/.test(character)) this.name();
      else this.fail("syntax error");
    }
    this.position++;
  }

  private internalSubset(): void {
    this.position++;
    for (;;) {
      this.skipSpace();
      if (this.at("]")) break;
      if (this.at("<!--")) this.comment();
      else if (this.at("<?")) this.instruction();
      else if (this.at("<!ENTITY")) this.fail("entities are disabled");
      else if (
        /^<!(?:ELEMENT|ATTLIST|NOTATION)[ \t\n]/.test(this.source.slice(this.position, this.position + 12))
      ) {
        this.declarationInSubset();
      } else this.fail("syntax error");
    }
    this.position++;
  }

  private declarationInSubset(): void {
    elementDeclaration.lastIndex = this.position;
    if (this.at("<!ELEMENT") && !elementDeclaration.test(this.source)) this.fail("syntax error");
    for (;;) {
      const character = this.source[this.position++];
      if (character === ">") return;
      if (character === undefined) this.fail("unclosed token");
      if (character === '"' || character === "'") this.until(character, "unclosed token");
    }
  }

  private name(): string {
    xmlName.lastIndex = this.position;
    const name = xmlName.exec(this.source)?.[0];
    if (name === undefined) return this.fail("not well-formed (invalid token)");
    this.position += name.length;
    return name;
  }

  /** Reads a start tag or an empty element. */
  private element(): void {
    this.position++;
    const name = this.name();
    const attributes: [string, string][] = [];
    const seen = new Set<string>();
    for (;;) {
      const spaced = this.skipSpace();
      if (this.at("/>") || this.at(">")) break;
      if (!spaced) this.fail("not well-formed (invalid token)");
      const [key, value] = this.attribute();
      if (seen.has(key)) this.fail("duplicate attribute");
      seen.add(key);
      attributes.push([key, value]);
    }
    this.handler.open(name, attributes);
    if (this.at("/>")) {
      this.position += 2;
      this.handler.close();
    } else {
      this.position++;
      this.openTags.push(name);
    }
  }

  private attribute(): [string, string] {
    const name = this.name();
    this.skipSpace();
    if (!this.at("=")) this.fail("not well-formed (invalid token)");
    this.position++;
    this.skipSpace();
    const quote = this.source[this.position];
    if (quote !== '"' && quote !== "'") this.fail("not well-formed (invalid token)");
    this.position++;
    const raw = this.until(quote as string, "unclosed token");
    if (raw.includes("<")) this.fail("not well-formed (invalid token)");
    return [name, this.expand(raw.replace(/[\t\n]/g, " "))];
  }

  /** Reads one piece of an element's content. */
  private content(): void {
    const next = this.source.indexOf("<", this.position);
    if (next < 0) this.fail("no element found");
    if (next > this.position) {
      const raw = this.source.slice(this.position, next);
      if (raw.includes("]]>")) this.fail("not well-formed (invalid token)");
      this.handler.text(this.expand(raw));
      this.position = next;
    }
    if (this.at("</")) this.endTag();
    else if (this.at("<!--")) this.comment();
    else if (this.at("<![CDATA[")) {
      this.position += "<![CDATA[".length;
      this.handler.text(this.until("]]>", "unclosed CDATA section"));
    } else if (this.at("<?")) this.instruction();
    else this.element();
  }

  private endTag(): void {
    this.position += 2;
    const name = this.name();
    this.skipSpace();
    if (!this.at(">")) this.fail("not well-formed (invalid token)");
    if (this.openTags.pop() !== name) this.fail("mismatched tag");
    this.position++;
    this.handler.close();
  }

  private expand(text: string): string {
    if (!text.includes("&")) return text;
    let result = "";
    let from = 0;
    for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", from)) {
      const end = text.indexOf(";", at);
      if (end < 0) this.fail("not well-formed (invalid token)");
      result += text.slice(from, at) + this.entity(text.slice(at + 1, end));
      from = end + 1;
    }
    return result + text.slice(from);
  }

  private entity(name: string): string {
    const known = Object.hasOwn(entities, name) ? entities[name] : undefined;
    if (known !== undefined) return known;
    const [, hex, decimal] = /^#(?:x([0-9A-Fa-f]{1,8})|([0-9]{1,10}))$/.exec(name) ?? [];
    if (hex === undefined && decimal === undefined) this.fail(`undefined entity '${name.slice(0, 20)}'`);
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    const character = code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\0";
    if (forbiddenInXml.test(character)) this.fail("reference to invalid character number");
    return character;
  }
}
