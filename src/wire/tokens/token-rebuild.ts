import { pyRound } from "../../python/numbers/round.ts";
import { type NewId, newId } from "../ids.ts";
import type { ResponseOutputItem } from "../schemas/item-types.ts";
import { TokenPrefixIndex } from "./token-prefix-index.ts";

/** What token capture keeps of one model call. */
export interface TokenRecord {
  model_call_id: string;
  prompt_token_ids: readonly number[];
  generation_token_ids: readonly number[];
  generation_log_probs: readonly number[];
  routed_experts?: unknown;
  /** The call's items without token lists. */
  output_items?: readonly ResponseOutputItem[];
  /** Which of the items the token lists were taken from. */
  token_item_index?: number | null;
  /** When the call finished, in seconds. */
  created_at: number;
}

/** How much of the capture was kept and what was not. */
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

/** A rollout put together again, and whether a trainer may use it. */
export interface TokenRebuild {
  /** The delivered chain's items, each generated one extending everything before it; empty where none is safe. */
  output: ResponseOutputItem[];
  /** Whether a trainer must leave the rollout out of its loss. */
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

/** Rebuilds a rollout from its captured calls by chaining each to the call whose tokens its prompt continues. */
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

/** A parent's prompt is always shorter than its child's, so the order comes from the tokens and not from the capture. */
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

/** Calls with the same prompt are retries. The one that a later call continues was kept; without such a call it is unknown. */
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

/** The chains from a root to a leaf that hold no quarantined call. */
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
