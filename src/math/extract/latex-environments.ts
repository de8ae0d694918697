/** A stretch of LaTeX in a text: `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, ` […] ` or a bare fraction of numbers. */
export interface LatexEnvironment {
  readonly start: number;
  readonly end: number;
  /** The contents. Several environments joined by "and", "or" or commas are one match. */
  readonly contents: readonly string[];
  readonly percent: boolean;
}

interface Single {
  readonly content: string;
  readonly end: number;
  /** The start of the closing delimiter. */
  readonly close: number;
}

const MAX_JOINED = 5;
const FRACTION = /-?\\frac\{-?\d+(?:[.,]\d+)?\}\{-?\d+(?:[.,]\d+)?\}/y;
export const PERCENT = /\s{0,9}(?:\\?%|[Pp]ercent(?:s|age)?|[Pp]ercentage|[Pp]ct)/y;
const JOINER = /\s{0,9}(?:,|and|or)\s{0,9}/y;

/** Finds LaTeX in a text. Each closing delimiter is searched once, so that hostile texts take linear time. */
export class EnvironmentScanner {
  readonly #text: string;
  readonly #closings = new Map<string, { from: number; found: number }>();

  constructor(text: string) {
    this.#text = text;
  }

  /** The match that starts at `position`, with the environments that are joined to it. */
  at(position: number, accept: (content: string) => boolean = () => true): LatexEnvironment | undefined {
    const first = this.#single(position);
    if (!first || !accept(first.content)) return undefined;
    const contents = [first.content];
    let { end } = first;
    let percent = this.#skip(PERCENT, end);
    end = percent ?? end;
    while (contents.length <= MAX_JOINED) {
      const joined = this.#skip(JOINER, end);
      const next = joined === undefined ? undefined : this.#single(joined);
      if (!next || !accept(next.content)) break;
      contents.push(next.content);
      percent = this.#skip(PERCENT, next.end);
      end = percent ?? next.end;
    }
    return { start: position, end, contents, percent: percent !== undefined };
  }

  /** All matches from left to right, without overlaps. */
  *all(accept?: (content: string) => boolean): Generator<LatexEnvironment> {
    for (let position = this.#nextStart(0); position < this.#text.length; ) {
      const found = this.at(position, accept);
      if (found) yield found;
      // A rejected environment is rejected from any later start up to its closing delimiter, which may open the next one.
      const rejected = found ? undefined : this.#single(position);
      position = this.#nextStart(found ? found.end : Math.max(position + 1, rejected?.close ?? 0));
    }
  }

  /** The first match that starts at `from` or up to `distance` characters later. */
  within(from: number, distance: number): LatexEnvironment | undefined {
    for (let position = from; position <= from + distance && position < this.#text.length; position++) {
      const found = this.at(position);
      if (found) return found;
    }
    return undefined;
  }

  #nextStart(from: number): number {
    for (let position = from; position < this.#text.length; position++) {
      const character = this.#text[position] as string;
      if (character === "$" || character === "\\" || character === "-" || /\s/.test(character))
        return position;
    }
    return this.#text.length;
  }

  #single(position: number): Single | undefined {
    const text = this.#text;
    const before = text[position - 1] ?? "";
    const character = text[position];
    if (character === "$") {
      if (before === "\\") return undefined;
      const display = text[position + 1] === "$" ? this.#enclosed(position, "$$", "$$") : undefined;
      if (display) return display;
      return /\d/.test(before) ? undefined : this.#inline(position);
    }
    if (character === "\\" && before !== "\\") {
      if (text[position + 1] === "[") return this.#enclosed(position, "\\[", "\\]");
      if (text[position + 1] === "(") return this.#enclosed(position, "\\(", "\\)", "\n");
    }
    if (character === "\\" || character === "-") {
      const end = this.#skip(FRACTION, position);
      return end === undefined ? undefined : { content: text.slice(position, end), end, close: end };
    }
    return /\s/.test(character ?? "") && text[position + 1] === "[" ? this.#bracket(position) : undefined;
  }

  /** `$…$` on one line. */
  #inline(position: number): Single | undefined {
    const line = this.#closing("\n", position);
    for (let end = position + 1; end < line; end++) {
      const character = this.#text[end];
      if (character === "\\") end++;
      else if (character === "$")
        return end === position + 1
          ? undefined
          : { content: this.#text.slice(position + 1, end), end: end + 1, close: end };
    }
    return undefined;
  }

  #bracket(position: number): Single | undefined {
    const close = this.#closing("]", position);
    if (close >= this.#text.length || close === position + 2) return undefined;
    if (Math.min(this.#closing("\n", position + 2), this.#closing("$", position + 2)) < close)
      return undefined;
    const content = this.#text.slice(position + 2, close);
    return /\s/.test(this.#text[close + 1] ?? "") ? { content, end: close + 2, close } : undefined;
  }

  #enclosed(position: number, open: string, close: string, not?: string): Single | undefined {
    const start = position + open.length;
    let end = this.#closing(close, start + 1);
    while (end < this.#text.length && this.#text[end - 1] === "\\") end = this.#text.indexOf(close, end + 1);
    if (end === -1 || end >= this.#text.length) return undefined;
    if (not !== undefined && this.#closing(not, start) < end) return undefined;
    return { content: this.#text.slice(start, end), end: end + close.length, close: end };
  }

  /** The next position of `mark`, or the end of the text. The result is cached for all positions that it covers. */
  #closing(mark: string, from: number): number {
    const known = this.#closings.get(mark);
    if (known && known.from <= from && from <= known.found) return known.found;
    const index = this.#text.indexOf(mark, from);
    const found = index === -1 ? this.#text.length : index;
    this.#closings.set(mark, { from, found });
    return found;
  }

  #skip(pattern: RegExp, position: number): number | undefined {
    pattern.lastIndex = position;
    return pattern.exec(this.#text) ? pattern.lastIndex : undefined;
  }
}
