import { decodeEntities } from "./entities.ts";
import { type HtmlHandler, HtmlTokenizer } from "./tokenizer.ts";

const words = (text: string) => new Set(text.split(" "));

const VOID = words("area base br col embed hr img input link meta param source track wbr");
/** Elements that never contain content. */
const SKIPPED = words(
  "script style noscript template svg canvas iframe object audio video map select datalist button textarea nav menu dialog head",
);
/** Elements that surround the content. */
const SURROUNDING = words("footer aside");
const BLOCKS = words(
  "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 " +
    "header hr html li main ol p pre section summary table tbody tfoot thead tr ul",
);
/** Elements that end where the next element of the same kind begins. */
const SELF_ENDING = words("p li dt dd tr td th option");
const BOILERPLATE =
  /(?:^|[\s_-])(?:nav|navbar|navigation|menu|sidebar|footer|breadcrumbs?|cookies?|consent|banner|share|sharing|social|related|promo|advert|ads?|comments?|newsletter|subscribe|popup|modal|skip-link)(?:$|[\s_-])/i;

const MAX_DEPTH = 400;
const MAX_TEXT = 1_000_000;
/** A block with a larger share of link text is a list of links, unless it is long. */
const LINK_SHARE = 0.6;
const LONG_BLOCK = 200;
/** A marked main part is used if it has at least this many characters and this share of the page. */
const MAIN_LENGTH = 200;
const MAIN_SHARE = 0.2;

interface Element {
  name: string;
  skipped: boolean;
  surrounding: boolean;
  main: boolean;
}

interface Block {
  text: string;
  linked: number;
  surrounding: boolean;
  main: boolean;
}

/** Collects the text blocks of a page, each with the properties of its position in the page. */
class BlockCollector implements HtmlHandler {
  readonly blocks: Block[] = [];
  title = "";
  readonly #stack: Element[] = [];
  readonly #open = new Map<string, number>();
  #text = "";
  #linked = 0;
  #total = 0;
  #marker = "";

  open(name: string, attributes: ReadonlyMap<string, string>): void {
    if (name === "br") this.#text += "\n";
    if (BLOCKS.has(name)) this.flush();
    if (name === "li") this.#marker = "- ";
    if ((name === "td" || name === "th") && this.#text.trim() !== "") this.#text += " | ";
    if (VOID.has(name)) return;
    if (SELF_ENDING.has(name) && this.#stack.at(-1)?.name === name) this.#pop();
    const parent = this.#stack.at(-1);
    if (this.#stack.length >= MAX_DEPTH) return;
    const role = attributes.get("role") ?? "";
    const main = name === "article" || name === "main" || role === "main" || (parent?.main ?? false);
    this.#stack.push({
      name,
      skipped: (parent?.skipped ?? false) || SKIPPED.has(name) || isHidden(attributes),
      surrounding: (parent?.surrounding ?? false) || isSurrounding(name, role, attributes, main),
      main,
    });
    this.#open.set(name, (this.#open.get(name) ?? 0) + 1);
  }

  close(name: string): void {
    if (BLOCKS.has(name)) this.flush();
    if ((this.#open.get(name) ?? 0) === 0) return;
    while (this.#stack.length > 0) if (this.#pop() === name) return;
  }

  #pop(): string | undefined {
    const element = this.#stack.pop();
    if (element !== undefined) this.#open.set(element.name, (this.#open.get(element.name) ?? 1) - 1);
    return element?.name;
  }

  text(text: string): void {
    const element = this.#stack.at(-1);
    if (element?.name === "title" && this.title.length < 1000) this.title += text;
    if (element?.skipped || this.#total > MAX_TEXT) return;
    this.#text += text;
    if ((this.#open.get("a") ?? 0) > 0) this.#linked += text.trim().length;
    // A page without block elements must not become one endless block.
    if (this.#text.length > MAX_TEXT) this.flush();
  }

  flush(): void {
    const text = tidy(this.#text, (this.#open.get("pre") ?? 0) > 0);
    if (text !== "") {
      const element = this.#stack.at(-1);
      this.#total += text.length;
      this.blocks.push({
        text: this.#marker + text,
        linked: this.#linked,
        surrounding: element?.surrounding ?? false,
        main: element?.main ?? false,
      });
      this.#marker = "";
    }
    this.#text = "";
    this.#linked = 0;
  }
}

function isHidden(attributes: ReadonlyMap<string, string>): boolean {
  return (
    attributes.has("hidden") ||
    attributes.get("aria-hidden") === "true" ||
    /display\s*:\s*none/i.test(attributes.get("style") ?? "")
  );
}

function isSurrounding(
  name: string,
  role: string,
  attributes: ReadonlyMap<string, string>,
  main: boolean,
): boolean {
  if (SURROUNDING.has(name) || (name === "header" && !main)) return true;
  if (role === "navigation" || role === "banner" || role === "contentinfo" || role === "complementary")
    return true;
  // The outermost elements often have such class names for the whole page.
  if (name === "body" || name === "html" || name === "main" || name === "article") return false;
  return BOILERPLATE.test(attributes.get("class") ?? "") || BOILERPLATE.test(attributes.get("id") ?? "");
}

function tidy(text: string, preformatted: boolean): string {
  const decoded = decodeEntities(text);
  if (preformatted) return decoded.replace(/^\n+/, "").trimEnd();
  return decoded
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim())
    .filter((line) => line !== "")
    .join(" ");
}

const lengthOf = (blocks: readonly Block[]) => blocks.reduce((sum, { text }) => sum + text.length, 0);

function isProse({ text, linked }: Block): boolean {
  return text.length >= LONG_BLOCK || linked <= text.length * LINK_SHARE;
}

/** Converts a page that arrives in chunks to readable text. */
export class TextExtractor {
  readonly #collector = new BlockCollector();
  readonly #tokenizer = new HtmlTokenizer(this.#collector);

  write(chunk: string): void {
    this.#tokenizer.write(chunk);
  }

  /** The text, one block per line: the main part if the page marks one, else everything that looks like prose, else everything. */
  end(): string {
    this.#tokenizer.end();
    this.#collector.flush();
    const { blocks, title } = this.#collector;
    const inside = blocks.filter(({ surrounding }) => !surrounding);
    const main = inside.filter((block) => block.main);
    const marked = lengthOf(main) >= Math.max(MAIN_LENGTH, MAIN_SHARE * lengthOf(inside));
    const prose = (marked ? main : inside).filter(isProse);
    const chosen = prose.length > 0 ? prose : blocks;
    return chosen.map(({ text }) => text).join("\n") || tidy(title, false);
  }
}

/** The text of a whole page. */
export function extractText(html: string): string {
  const extractor = new TextExtractor();
  extractor.write(html);
  return extractor.end();
}
