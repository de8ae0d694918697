import { pyRound } from "../../base/python/numbers/door.ts";
import { type NewId, newId } from "../ids.ts";
import type { ResponseOutputItem } from "../schemas/item-types.ts";

/** The captured tokens of one model call. */
export interface TokenRecord {
  model_call_id: string;
  prompt_token_ids: readonly number[];
  generation_token_ids: readonly number[];
  generation_log_probs: readonly number[];
  routed_experts?: unknown;
  /** The items of the call without token lists. */
  output_items?: readonly ResponseOutputItem[];
  /** The index of the item that had the token lists. */
  token_item_index?: number | null;
  /** When the call finished, in seconds. */
  created_at: number;
}

/** Counts of the captured, delivered and quarantined calls and tokens. */
export interface TokenRebuildMetrics {
  n_calls: number;
  chains: number;
  roots: number;
  quarantined_calls: number;
  quarantined_fraction: number;
  delivered_fraction: number;
  generated_tokens_captured: number;
  generated_tokens_delivered: number;
  empty_generation_calls: number;
}

/** A rebuilt rollout, and whether a trainer may use it. */
export interface TokenRebuild {
  /** The items of the delivered chain, in which each call continues the tokens of the previous one. Empty without a safe chain. */
  output: ResponseOutputItem[];
  /** Whether a trainer must exclude the rollout from its loss. */
  mask_sample: boolean;
  /** Why nothing could be delivered. */
  error?: string;
  unresolved_retries: string[];
  quarantined: string[];
  metrics: TokenRebuildMetrics;
}

interface Node extends TokenRecord {
  parent: Node | undefined;
  children: Node[];
  quarantined: boolean;
}

/** Rebuilds a rollout from its captured calls. Each call is linked to the call whose tokens its prompt continues. */
export function rebuildFromTokens(records: readonly TokenRecord[], makeId: NewId = newId): TokenRebuild {
  const nodes = linkByPrefix(records.filter((record) => record.generation_token_ids.length > 0));
  const unresolved = settleRetries(nodes);
  const chains = safeChains(nodes);
  const delivered = chains.reduce<Node[] | undefined>(
    (best, chain) => (best === undefined || finishedBefore(chain, best) ? chain : best),
    undefined,
  );
  const error = faultOf(records, delivered, chains);
  const roots = nodes.filter((node) => node.parent === undefined).length;
  const quarantined = nodes.filter((node) => node.quarantined).map((node) => node.model_call_id);
  const captured = countTokens(nodes);
  const kept = countTokens(delivered ?? []);
  return {
    output: error === undefined ? (delivered ?? []).flatMap((node) => itemsOf(node, makeId)) : [],
    mask_sample: error !== undefined || unresolved.length > 0 || roots !== 1 || chains.length !== 1,
    ...(error === undefined ? {} : { error }),
    unresolved_retries: unresolved,
    quarantined,
    metrics: {
      n_calls: records.length,
      chains: chains.length,
      roots,
      quarantined_calls: quarantined.length,
      quarantined_fraction: fraction(quarantined.length, records.length),
      delivered_fraction: fraction(kept, captured),
      generated_tokens_captured: captured,
      generated_tokens_delivered: kept,
      empty_generation_calls: records.length - nodes.length,
    },
  };
}

const countTokens = (calls: readonly TokenRecord[]) =>
  calls.reduce((sum, call) => sum + call.generation_token_ids.length, 0);

const fraction = (part: number, whole: number) => (whole === 0 ? 0 : pyRound(part / whole, 4));

const byId = (left: TokenRecord, right: TokenRecord) =>
  left.model_call_id < right.model_call_id ? -1 : left.model_call_id > right.model_call_id ? 1 : 0;

/** The prompt of a parent is shorter than that of its child, so the order follows from the tokens. */
function linkByPrefix(records: TokenRecord[]): Node[] {
  const index = new TokenPrefixIndex<Node>();
  const ordered = [...records].sort(
    (left, right) => left.prompt_token_ids.length - right.prompt_token_ids.length || byId(left, right),
  );
  return ordered.map((record) => {
    const [parent, twin] = index.longestPrefixes(record.prompt_token_ids);
    const node: Node = { ...record, parent, children: [], quarantined: twin !== undefined };
    parent?.children.push(node);
    index.add(node);
    return node;
  });
}

/** Calls with the same prompt are retries. The agent used the retry that a later call continues; without one it is unknown. */
function settleRetries(nodes: readonly Node[]): string[] {
  const unresolved: string[] = [];
  for (const retries of retryGroups(nodes)) {
    const continued = retries.filter((node) => node.children.some((child) => !child.quarantined));
    const keep = continued.length > 0 ? continued : [...retries].sort(byId).slice(0, 1);
    if (continued.length === 0) unresolved.push(...retries.map((node) => node.model_call_id));
    for (const node of retries) if (!keep.includes(node)) node.quarantined = true;
  }
  return unresolved;
}

function retryGroups(nodes: readonly Node[]): Node[][] {
  const siblings = new Map<Node | undefined, Node[][]>();
  for (const node of nodes) {
    const groups = siblings.get(node.parent) ?? [];
    siblings.set(node.parent, groups);
    const same = groups.find(([first]) => first !== undefined && hasSamePrompt(first, node));
    if (same === undefined) groups.push([node]);
    else same.push(node);
  }
  return [...siblings.values()].flat().filter((group) => group.length > 1);
}

const hasSamePrompt = ({ prompt_token_ids: left }: Node, { prompt_token_ids: right }: Node) =>
  left.length === right.length && left.every((id, index) => id === right[index]);

/** The chains from a root to a leaf without quarantined calls. */
function safeChains(nodes: readonly Node[]): Node[][] {
  const chains: Node[][] = [];
  for (const leaf of nodes) {
    if (leaf.children.length > 0) continue;
    const chain: Node[] = [];
    for (let node: Node | undefined = leaf; node !== undefined; node = node.parent) chain.unshift(node);
    if (!chain.some((node) => node.quarantined)) chains.push(chain);
  }
  return chains;
}

function finishedBefore([left]: Node[], [right]: Node[]): boolean {
  if (left === undefined || right === undefined) return false;
  return left.created_at === right.created_at ? byId(left, right) < 0 : left.created_at < right.created_at;
}

function faultOf(
  records: readonly TokenRecord[],
  delivered: Node[] | undefined,
  chains: readonly Node[][],
): string | undefined {
  if (records.length === 0) return "capture contains no token records";
  if (delivered === undefined) return "capture produced no safe trainable chain";
  const uneven = chains
    .flat()
    .find((node) => node.generation_log_probs.length !== node.generation_token_ids.length);
  if (uneven === undefined) return undefined;
  const { model_call_id, generation_log_probs, generation_token_ids } = uneven;
  return `call ${model_call_id} has ${generation_token_ids.length} token ids but ${generation_log_probs.length} log-probabilities`;
}

function itemsOf(node: Node, makeId: NewId): ResponseOutputItem[] {
  const tokens = {
    prompt_token_ids: [...node.prompt_token_ids],
    generation_token_ids: [...node.generation_token_ids],
    generation_log_probs: [...node.generation_log_probs],
    ...(node.routed_experts == null ? {} : { routed_experts: node.routed_experts }),
  };
  const items = node.output_items ?? [];
  if (items.length === 0) {
    return [
      { ...tokens, id: makeId("msg"), content: [], role: "assistant", status: "completed", type: "message" },
    ];
  }
  const given = node.token_item_index ?? items.findIndex((item) => item.generation_token_ids !== undefined);
  const carrier = given >= 0 && given < items.length ? given : items.length - 1;
  return items.map((item, index) => (index === carrier ? { ...item, ...tokens } : { ...item }));
}

/** A sequence of token ids in two parts, so that they need not be copied. */
export interface SplitTokens {
  prompt_token_ids: readonly number[];
  generation_token_ids: readonly number[];
}

/** Two 32-bit hashes of a growing prefix. Sequences with equal hashes are still compared id by id. */
class PrefixHash {
  #left = 0x811c9dc5;
  #right = 0x9e3779b9;

  add(id: number): void {
    this.#left = Math.imul(this.#left ^ id, 0x01000193);
    this.#right = Math.imul(this.#right + id, 0x85ebca6b) ^ (this.#right >>> 13);
  }

  key(): string {
    return `${this.#left},${this.#right}`;
  }
}

/** Finds the longest known sequence that is a prefix of a prompt, in linear time. */
class TokenPrefixIndex<T extends SplitTokens> {
  readonly #byLength = new Map<number, Map<string, T[]>>();

  add(sequence: T): void {
    const hash = new PrefixHash();
    for (const id of sequence.prompt_token_ids) hash.add(id);
    for (const id of sequence.generation_token_ids) hash.add(id);
    const length = lengthOf(sequence);
    const ofLength = this.#byLength.get(length) ?? new Map<string, T[]>();
    this.#byLength.set(length, ofLength);
    const known = ofLength.get(hash.key());
    if (known === undefined) ofLength.set(hash.key(), [sequence]);
    else known.push(sequence);
  }

  /** The longest sequence that is a prefix of `prompt`; several if they are identical. */
  longestPrefixes(prompt: readonly number[]): T[] {
    const lengths = [...this.#byLength.keys()]
      .filter((length) => length > 0 && length <= prompt.length)
      .sort((left, right) => left - right);
    const hash = new PrefixHash();
    const likely: T[][] = [];
    let position = 0;
    for (const length of lengths) {
      while (position < length) hash.add(prompt[position++] ?? 0);
      const found = this.#byLength.get(length)?.get(hash.key());
      if (found !== undefined) likely.push(found);
    }
    // Hashes can collide, so the ids are compared. The longest candidate nearly always matches.
    for (const candidates of likely.reverse()) {
      const matching = candidates.filter((sequence) => isPrefix(sequence, prompt));
      if (matching.length > 0) return matching;
    }
    return [];
  }
}

const lengthOf = ({ prompt_token_ids, generation_token_ids }: SplitTokens) =>
  prompt_token_ids.length + generation_token_ids.length;

function isPrefix({ prompt_token_ids, generation_token_ids }: SplitTokens, ids: readonly number[]): boolean {
  return standsAt(prompt_token_ids, ids, 0) && standsAt(generation_token_ids, ids, prompt_token_ids.length);
}

function standsAt(part: readonly number[], ids: readonly number[], offset: number): boolean {
  for (let index = 0; index < part.length; index++) if (part[index] !== ids[offset + index]) return false;
  return true;
}
