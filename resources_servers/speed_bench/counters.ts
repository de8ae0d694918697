import { parsePyFloat } from "nemo-gym/python";

/** What a rollout changed in the counters of the inference server. */
export interface Speculation {
  acceptance_length: number | null;
  acceptance_rate: number | null;
  num_drafts: number | null;
  draft_tokens: number | null;
  accepted_tokens: number | null;
  per_position_acceptance_rates: number[] | null;
}
export const NOTHING: Speculation = {
  acceptance_length: null,
  acceptance_rate: null,
  num_drafts: null,
  draft_tokens: null,
  accepted_tokens: null,
  per_position_acceptance_rates: null,
};

export interface CounterReader<Counters> {
  /** Undefined if the text has no counters of speculative decoding. */
  read(text: string): Counters | undefined;
  between(before: Counters, after: Counters): Speculation;
}

interface VllmCounters {
  drafts: number;
  draftTokens: number;
  accepted: number;
  byPosition: Map<number, number>;
}

/** The number at the end of a line; undefined if there is none. */
const numberAtEnd = (line: string) => parsePyFloat(line.trim().split(/\s+/).at(-1) ?? "");

export const vllm: CounterReader<VllmCounters> = {
  read(text) {
    const lines = text
      .split("\n")
      .filter((line) => line.startsWith("vllm:spec_decode") && !/^[^{\s]*_created/.test(line));
    if (lines.length === 0) return undefined;
    const counters: VllmCounters = { drafts: 0, draftTokens: 0, accepted: 0, byPosition: new Map() };
    for (const line of lines) {
      const number = numberAtEnd(line);
      if (number === undefined || !Number.isFinite(number)) continue;
      const value = Math.trunc(number);
      if (line.includes("num_drafts")) counters.drafts += value;
      else if (line.includes("num_draft_tokens")) counters.draftTokens += value;
      else if (line.includes("num_accepted_tokens_per_pos")) {
        const position = Number(/position="(\d+)"/.exec(line)?.[1] ?? Number.NaN);
        if (Number.isNaN(position)) continue;
        counters.byPosition.set(position, (counters.byPosition.get(position) ?? 0) + value);
      } else if (line.includes("num_accepted_tokens")) counters.accepted += value;
    }
    return counters;
  },
  between(before, after) {
    const draft_tokens = after.draftTokens - before.draftTokens;
    if (draft_tokens <= 0) return NOTHING;
    const num_drafts = after.drafts - before.drafts;
    const accepted_tokens = after.accepted - before.accepted;
    const positions = [...new Set([...before.byPosition.keys(), ...after.byPosition.keys()])].sort(
      (a, b) => a - b,
    );
    const at = (counters: VllmCounters, position: number) => counters.byPosition.get(position) ?? 0;
    return {
      acceptance_length: num_drafts > 0 ? 1 + accepted_tokens / num_drafts : 0,
      acceptance_rate: (accepted_tokens / draft_tokens) * 100,
      ...{ num_drafts, draft_tokens, accepted_tokens },
      per_position_acceptance_rates:
        num_drafts > 0
          ? positions.map((position) => (at(after, position) - at(before, position)) / num_drafts)
          : [],
    };
  },
};

interface SglangCounters {
  length: number;
  rate: number;
  requests: number;
  tokens: number;
}

export const sglang: CounterReader<SglangCounters> = {
  read(text) {
    const find = (name: string) => {
      const line = text.split("\n").find((each) => new RegExp(`^sglang:${name}[{\\s]`).test(each));
      return line === undefined ? undefined : numberAtEnd(line);
    };
    const length = find("spec_accept_length");
    const rate = find("spec_accept_rate");
    if (length === undefined || rate === undefined) return undefined;
    return {
      length,
      rate,
      requests: find("num_requests_total") ?? 0,
      tokens: find("generation_tokens_total") ?? 0,
    };
  },
  /** The server keeps averages over all requests; the average of the requests in between follows from two of them. */
  between(before, after) {
    const requests = after.requests - before.requests;
    if (requests <= 0) return NOTHING;
    const since = (from: number, to: number) =>
      before.requests > 0 ? (to * after.requests - from * before.requests) / requests : to;
    const rate = since(before.rate, after.rate);
    const draft_tokens = Math.trunc(after.tokens - before.tokens);
    return {
      acceptance_length: since(before.length, after.length),
      acceptance_rate: rate * 100,
      num_drafts: Math.trunc(requests),
      draft_tokens,
      accepted_tokens: Math.trunc(draft_tokens * rate),
      per_position_acceptance_rates: [],
    };
  },
};
