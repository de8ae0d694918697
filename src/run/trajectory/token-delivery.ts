import { errorMessage } from "../../base/errors.ts";
import type { Row } from "../../records/files/door.ts";
import type { TurnBoundaries } from "../../records/light-door.ts";
import type { TokenSnapshot, TokenSource } from "../../servers/capture/door.ts";
import { maskMembers } from "../../wire/light-door.ts";
import { rebuildFromTokens } from "../../wire/tokens/door.ts";
import { classifyCalls } from "../../wire/tokens/light-door.ts";

/** `_ng_token_capture`: how completely a rollout's tokens were recorded and delivered. */
interface TokenCaptureHealth {
  n_calls: number;
  /** Why nothing could be delivered. */
  error?: string;
  /** Set when data is known to be missing. */
  capture_incomplete?: true;
  unresolved_retries?: number;
  turn_boundaries?: TurnBoundaries;
  [metric: string]: unknown;
}

interface TokenDelivery {
  row: Row;
  /** Why the row is masked, in a few words; undefined if it is not. */
  reason: string | undefined;
  /** Records that may be deleted once the row is saved. */
  used: Pick<TokenSnapshot, "snapshotId" | "version"> | undefined;
}

/**
 * Adds the recorded tokens of a finished rollout to its row. Rows with token ids already hold what the policy sampled
 * and are unchanged; rows whose tokens are missing or ambiguous are masked. Never throws.
 */
export async function deliverTokens(
  row: Row,
  rolloutId: string | undefined,
  source: TokenSource,
): Promise<TokenDelivery> {
  if (carriesTokens(row)) return redundant(row, rolloutId, source);
  if (rolloutId === undefined) return unusable(row, "the row has no rollout id");
  try {
    const snapshot = await source.freeze(rolloutId);
    if (snapshot.calls.length === 0 && !snapshot.incomplete) return unusable(row, "nothing recorded");
    return rebuilt(row, snapshot);
  } catch (error) {
    return unusable(row, errorMessage(error));
  }
}

function rebuilt(row: Row, snapshot: TokenSnapshot): TokenDelivery {
  const { output, mask_sample, error, metrics, unresolved_retries } = rebuildFromTokens(snapshot.records);
  const { incomplete } = snapshot;
  const masked = mask_sample || incomplete;
  const problem = snapshot.problem ?? error;
  const health: TokenCaptureHealth = {
    ...metrics,
    ...(incomplete && { capture_incomplete: true }),
    ...(unresolved_retries.length > 0 && { unresolved_retries: unresolved_retries.length }),
    ...(problem !== undefined && { error: problem }),
    turn_boundaries: classifyCalls(snapshot.calls).counts,
  };
  const delivered: Row = { ...row, _ng_token_capture: health };
  if (error === undefined) delivered["response"] = { ...(row["response"] as object | null), output };
  if (masked) Object.assign(delivered, maskMembers(row));
  const used = masked || error !== undefined ? undefined : snapshot;
  return { row: delivered, reason: masked ? reasonOf(health) : undefined, used };
}

function reasonOf(health: TokenCaptureHealth): string {
  if (health.capture_incomplete) return "incomplete capture";
  if (health.error !== undefined) return health.error;
  if (health.unresolved_retries) return "unresolved retries";
  return Number(health["roots"]) > 1 ? "several conversations" : "several branches";
}

async function redundant(
  row: Row,
  rolloutId: string | undefined,
  source: TokenSource,
): Promise<TokenDelivery> {
  // The row already has its token ids, so records that cannot be read are left in place.
  const used = rolloutId === undefined ? undefined : await source.freeze(rolloutId).catch(() => undefined);
  return { row, reason: undefined, used };
}

function unusable(row: Row, error: string): TokenDelivery {
  const health: TokenCaptureHealth = { n_calls: 0, error };
  return {
    row: { ...row, _ng_token_capture: health, ...maskMembers(row) },
    reason: error,
    used: undefined,
  };
}

function carriesTokens(row: Row): boolean {
  const output = (row["response"] as { output?: unknown } | null | undefined)?.output;
  if (!Array.isArray(output)) return false;
  return output.some((item) => {
    const ids = (item as { generation_token_ids?: unknown } | null)?.generation_token_ids;
    return Array.isArray(ids) && ids.length > 0;
  });
}
