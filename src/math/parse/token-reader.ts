import { type Budget, MAX_DEPTH } from "../budget.ts";
import { ParseError, type Token, tokenize } from "./tokens.ts";

/** An exception takes as long as many tokens. */
const FAILURE_STEPS = 20;

/** Walks over tokens, with a way back. */
export class TokenReader {
  readonly #tokens: readonly Token[];
  readonly #budget: Budget;
  #index = 0;
  #depth = 0;
  readonly #failed = new Set<string>();

  constructor(text: string, budget: Budget) {
    this.#tokens = tokenize(text);
    this.#budget = budget;
  }

  get token(): Token {
    return this.ahead(0);
  }

  ahead(count: number): Token {
    return this.#tokens[Math.min(this.#index + count, this.#tokens.length - 1)] as Token;
  }

  next(): Token {
    this.#budget.spend();
    const token = this.token;
    this.#index++;
    return token;
  }

  isOperator(...texts: string[]): boolean {
    return this.token.kind === "operator" && texts.includes(this.token.text);
  }

  isCommand(...texts: string[]): boolean {
    return this.token.kind === "command" && texts.includes(this.token.text);
  }

  take(text: string): boolean {
    if (!this.isOperator(text)) return false;
    this.next();
    return true;
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.unexpected(`expected '${text}'`);
  }

  unexpected(what = "unexpected"): ParseError {
    const { kind, text, start } = this.token;
    return new ParseError(
      kind === "end" ? `The answer ends early: ${what}` : `Unexpected '${text}': ${what}`,
      start,
    );
  }

  /**
   * Reads with `read`; when that fails, or `accept` refuses the outcome, goes back and gives undefined. With a `rule`, a place where it
   * failed once is not tried again.
   */
  attempt<T>(read: () => T, accept: (value: T) => boolean = () => true, rule?: string): T | undefined {
    const start = this.#index;
    const depth = this.#depth;
    const place = `${rule} ${start}`;
    if (rule !== undefined && this.#failed.has(place)) return undefined;
    try {
      const value = read();
      if (accept(value)) return value;
    } catch (error) {
      if (!(error instanceof ParseError)) throw error;
      this.#budget.spend(FAILURE_STEPS);
    }
    this.#index = start;
    this.#depth = depth;
    if (rule !== undefined) this.#failed.add(place);
    return undefined;
  }

  /** Bounds how deep `read` may nest. */
  nested<T>(read: () => T): T {
    if (++this.#depth > MAX_DEPTH) throw new ParseError("The answer nests too deeply", this.token.start);
    const value = read();
    this.#depth--;
    return value;
  }
}
