import { JsonSkimmer, SkimError } from "./json-skimmer.ts";
import { RowFacts } from "./row-columns.ts";

const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const QUOTE = 0x22;
const MAX_TOOLS = 64;
const MAX_NAME = 200;
/** Maximum for each length. */
const REMEMBERED_NAMES = 16;

const key = (name: string): Uint8Array => Buffer.from(name, "latin1");
const REWARD = key("reward");
const TASK = key("_ng_task_index");
const ROLLOUT = key("_ng_rollout_index");
const ATTEMPT = key("_ng_attempt_index");
const AGENT_REF = key("agent_ref");
const MASK = key("mask_sample");
const FAILURE_CLASS = key("_ng_failure_class");
const FAILURE = key("_ng_failure");
const FAILURE_TERMINAL = key("_ng_failure_terminal");
const RETRYABLE = key("retryable");
const PARAMS = key("responses_create_params");
const RESPONSE = key("response");
const CAPTURE = key("ng_model_call_capture");
const TRAJECTORY = key("ng_trajectory");
const INPUT = key("input");
const OUTPUT = key("output");
const USAGE = key("usage");
const MODEL = key("model");
const INPUT_TOKENS = key("input_tokens");
const OUTPUT_TOKENS = key("output_tokens");
const COST = key("ng_cost");
const TYPE = key("type");
const ROLE = key("role");
const NAME = key("name");
const CONTENT = key("content");
const TEXT = key("text");
const REFUSAL = key("refusal");
const METRICS = key("metrics");
const LATENCY = key("latency_total_ms");
const CALLS = key("num_calls");
const INVOCATIONS = key("invocations");
const DURATION = key("duration_ms");
const TIMING = key("_ng_timing");
const SECONDS = key("seconds");

/** An item of the input or output of a row. */
interface Item {
  type: string | undefined;
  role: string | undefined;
  name: string | undefined;
  /** Positions in the buffer. */
  textAt: number | undefined;
  start: number;
}

/** Reads the facts of rows from their bytes, at about a gigabyte per second. */
export class RowSkim {
  readonly #json = new JsonSkimmer();
  #start = 0;
  /** The duration of the whole attempt, as measured by the collection. */
  #timedMs: number | undefined;
  /** Known names, by length: rows share most of them. */
  readonly #names: { bytes: Buffer; text: string }[][] = [];

  /** The facts of the row between two positions; throws SkimError if it is not a JSON object. */
  read(bytes: Buffer, from: number, to: number): RowFacts {
    const json = this.#json;
    json.open(bytes, from, to);
    this.#start = from;
    this.#timedMs = undefined;
    const facts = new RowFacts();
    if (json.peek() !== OPEN_OBJECT) throw new SkimError("the row is not a JSON object");
    this.#members(() => this.#rowMember(facts));
    if (json.peek() !== 0) throw new SkimError("something follows the row");
    facts.durationMs = this.#timedMs ?? facts.durationMs;
    return facts;
  }

  #rowMember(facts: RowFacts): void {
    const json = this.#json;
    if (json.keyIs(REWARD)) facts.reward = json.number();
    else if (json.keyIs(TASK)) facts.task = wholeNumber(json.number());
    else if (json.keyIs(ROLLOUT)) facts.rollout = wholeNumber(json.number());
    else if (json.keyIs(ATTEMPT)) facts.attempt = wholeNumber(json.number());
    else if (json.keyIs(MASK)) facts.masked = this.#isTrue();
    else if (json.keyIs(FAILURE_CLASS)) facts.failure = this.#name();
    else if (json.keyIs(FAILURE_TERMINAL)) facts.isTerminal = this.#isTrue();
    else if (json.keyIs(FAILURE))
      this.#object(() => {
        if (json.keyIs(RETRYABLE)) facts.isFinal = !this.#isTrue();
        else json.skipValue();
      });
    else if (json.keyIs(AGENT_REF)) {
      facts.agent = undefined;
      this.#object(() => {
        if (json.keyIs(NAME)) facts.agent = this.#name();
        else json.skipValue();
      });
    } else if (json.keyIs(PARAMS))
      this.#object(() => {
        if (json.keyIs(INPUT)) facts.promptAt = this.#lastSaid("user");
        else json.skipValue();
      });
    else if (json.keyIs(RESPONSE)) this.#object(() => this.#responseMember(facts));
    else if (json.keyIs(CAPTURE)) this.#object(() => this.#captureMember(facts));
    else if (json.keyIs(TIMING)) this.#object(() => this.#timingMember());
    else if (json.keyIs(TRAJECTORY)) this.#object(() => this.#trajectoryMember(facts));
    else json.skipValue();
  }

  #responseMember(facts: RowFacts): void {
    const json = this.#json;
    if (json.keyIs(OUTPUT)) this.#output(facts);
    else if (json.keyIs(MODEL)) facts.model = this.#name();
    else if (json.keyIs(USAGE))
      this.#object(() => {
        if (json.keyIs(INPUT_TOKENS)) facts.inputTokens = json.number();
        else if (json.keyIs(OUTPUT_TOKENS)) facts.outputTokens = json.number();
        else if (json.keyIs(COST)) facts.cost = json.number();
        else json.skipValue();
      });
    else json.skipValue();
  }

  #captureMember(facts: RowFacts): void {
    const json = this.#json;
    if (!json.keyIs(METRICS)) {
      json.skipValue();
      return;
    }
    this.#object(() => {
      if (json.keyIs(LATENCY)) {
        const latency = json.number();
        facts.durationMs ??= latency;
      } else if (json.keyIs(CALLS)) facts.turns = json.number() ?? facts.turns;
      else json.skipValue();
    });
  }

  #timingMember(): void {
    const json = this.#json;
    if (!json.keyIs(SECONDS)) {
      json.skipValue();
      return;
    }
    const seconds = json.number();
    this.#timedMs = seconds === undefined ? undefined : seconds * 1000;
  }

  /** The longest invocation is the outermost one. */
  #trajectoryMember(facts: RowFacts): void {
    const json = this.#json;
    if (!json.keyIs(INVOCATIONS) || json.peek() !== OPEN_ARRAY) {
      json.skipValue();
      return;
    }
    let longest: number | undefined;
    this.#items(() =>
      this.#object(() => {
        if (!json.keyIs(DURATION)) return json.skipValue();
        const duration = json.number();
        if (duration !== undefined) longest = Math.max(longest ?? 0, duration);
      }),
    );
    facts.durationMs = longest ?? facts.durationMs;
  }

  /** Reads the items of the output: turns of the model, its tool calls, and the position of its last answer. */
  #output(facts: RowFacts): void {
    const json = this.#json;
    facts.turns = 0;
    facts.toolCalls = 0;
    facts.tools = [];
    facts.answerAt = undefined;
    if (json.peek() !== OPEN_ARRAY) {
      json.skipValue();
      return;
    }
    let modelSpeaks = false;
    this.#items(() => {
      const item = this.#item();
      const isModel = item.type !== "function_call_output" && (item.role ?? "assistant") === "assistant";
      if (isModel && !modelSpeaks) facts.turns++;
      modelSpeaks = isModel;
      if (item.type === "function_call") {
        facts.toolCalls++;
        if (item.name !== undefined && facts.tools.length < MAX_TOOLS && !facts.tools.includes(item.name))
          facts.tools.push(item.name);
        facts.answerAt = item.start - this.#start;
      } else if (isModel && item.textAt !== undefined && item.type !== "reasoning")
        facts.answerAt = item.textAt - this.#start;
    });
  }

  /** The offset of the last text of a role in an input, which is a text or a list of items. */
  #lastSaid(role: string): number | undefined {
    const json = this.#json;
    const first = json.peek();
    let found: number | undefined;
    if (first === QUOTE) found = json.at - this.#start;
    if (first !== OPEN_ARRAY) {
      json.skipValue();
      return found;
    }
    this.#items(() => {
      const item = this.#item();
      if (item.role === role && item.textAt !== undefined) found = item.textAt - this.#start;
    });
    return found;
  }

  #item(): Item {
    const json = this.#json;
    json.peek();
    const item: Item = {
      type: undefined,
      role: undefined,
      name: undefined,
      textAt: undefined,
      start: json.at,
    };
    this.#object(() => {
      if (json.keyIs(TYPE)) item.type = this.#name();
      else if (json.keyIs(ROLE)) item.role = this.#name();
      else if (json.keyIs(NAME)) item.name = this.#name();
      else if (json.keyIs(CONTENT)) item.textAt = this.#textOfContent();
      else json.skipValue();
    });
    return item;
  }

  #textOfContent(): number | undefined {
    const json = this.#json;
    const first = json.peek();
    let found: number | undefined;
    if (first === QUOTE) found = json.at;
    if (first !== OPEN_ARRAY) {
      json.skipValue();
      return found;
    }
    this.#items(() =>
      this.#object(() => {
        if ((json.keyIs(TEXT) || json.keyIs(REFUSAL)) && json.peek() === QUOTE) found ??= json.at;
        json.skipValue();
      }),
    );
    return found;
  }

  /** Calls `read` at the value of each member of the object at the current position; skips other values. */
  #object(read: () => void): void {
    if (this.#json.peek() === OPEN_OBJECT) this.#members(read);
    else this.#json.skipValue();
  }

  #members(read: () => void): void {
    const json = this.#json;
    if (!json.enter()) return;
    do {
      json.key();
      read();
    } while (json.next());
  }

  #items(read: () => void): void {
    const json = this.#json;
    if (!json.enter()) return;
    do read();
    while (json.next());
  }

  #name(): string | undefined {
    const json = this.#json;
    if (json.peek() !== QUOTE) {
      json.skipValue();
      return undefined;
    }
    const from = json.at + 1;
    json.skipString();
    const to = json.at - 1;
    const length = to - from;
    if (length > MAX_NAME) return undefined;
    const known = this.#names[length] ?? [];
    const { bytes } = json;
    next: for (const name of known) {
      for (let index = 0; index < length; index++)
        if (name.bytes[index] !== bytes[from + index]) continue next;
      return name.text;
    }
    const text = decoded(bytes, from - 1, to + 1);
    if (known.length < REMEMBERED_NAMES) {
      known.push({ bytes: Buffer.from(bytes.subarray(from, to)), text });
      this.#names[length] = known;
    }
    return text;
  }

  /** Truthiness as in Python: empty values are false. */
  #isTrue(): boolean {
    const json = this.#json;
    const first = json.peek();
    const from = json.at;
    json.skipValue();
    const text = json.latin1(from, Math.min(json.at, from + 20)).replace(/\s/g, "");
    if (first === QUOTE || first === OPEN_OBJECT || first === OPEN_ARRAY)
      return !/^(?:""|\{\}|\[\])$/.test(text);
    return text !== "false" && text !== "null" && Number(text) !== 0;
  }
}

function decoded(bytes: Buffer, from: number, to: number): string {
  try {
    return JSON.parse(bytes.toString("utf8", from, to)) as string;
  } catch {
    throw new SkimError("a string is not JSON");
  }
}

function wholeNumber(value: number | undefined): number | undefined {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
