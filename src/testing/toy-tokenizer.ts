const SPECIAL = ["<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>"];
const PIECES = /<\|im_start\|>|<\|im_end\|>|<\/?think>|<\/?tool_call>| ?[A-Za-z]{1,12}|\d|\s|[^A-Za-z\d\s]/gu;

/** A tokenizer for tests. Words, digits and signs are tokens, and a text has several tokenizations, as with real ones. */
export class ToyTokenizer {
  readonly #ids = new Map<string, number>();
  readonly #pieces: string[] = [];

  constructor() {
    for (const piece of SPECIAL) this.#id(piece);
  }

  /** The canonical ids of a text. */
  encode(text: string): number[] {
    return (text.match(PIECES) ?? []).map((piece) => this.#id(piece));
  }

  /** Other ids for the same text: the first word with three or more letters is split into two tokens. */
  encodeOddly(text: string): number[] {
    const pieces = text.match(PIECES) ?? [];
    const index = pieces.findIndex((piece) => /^ ?[A-Za-z]{3,}$/.test(piece));
    const word = pieces[index];
    if (word === undefined) return this.encode(text);
    const halves = [word.slice(0, 2), word.slice(2)];
    return pieces.toSpliced(index, 1, ...halves).map((piece) => this.#id(piece));
  }

  decode(ids: readonly number[]): string {
    return ids.map((id) => this.#pieces[id] ?? "\uFFFD").join("");
  }

  #id(piece: string): number {
    let id = this.#ids.get(piece);
    if (id === undefined) {
      id = this.#pieces.push(piece) - 1;
      this.#ids.set(piece, id);
    }
    return id;
  }
}
