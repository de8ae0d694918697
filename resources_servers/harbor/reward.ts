import type { Sandbox } from "nemo-gym/sandbox";

export const LOGS = "/logs/verifier";

/** The rewards written by `tests/test.sh`, by name; a string explains why there are none. */
export async function readRewards(
  sandbox: Sandbox,
  signal: AbortSignal,
): Promise<Record<string, number> | string> {
  const read = async (file: string) => {
    const { return_code, stdout } = await sandbox.exec(`cat ${LOGS}/${file}`, { cwd: "/", signal });
    return return_code === 0 ? (stdout ?? "") : undefined;
  };
  const json = await read("reward.json");
  if (json !== undefined) return rewardsOf(json);
  const text = await read("reward.txt");
  if (text === undefined) return `there is neither ${LOGS}/reward.txt nor ${LOGS}/reward.json`;
  const reward = text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(reward) ? { reward } : `reward.txt has no number: '${text.trim().slice(0, 100)}'`;
}

function rewardsOf(json: string): Record<string, number> | string {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "number" && Number.isFinite(value)) return { reward: value };
    const entries = Object.entries(value as Record<string, unknown>);
    if (entries.length > 0 && entries.every(([, reward]) => Number.isFinite(reward)))
      return Object.fromEntries(entries) as Record<string, number>;
  } catch {
    // Not JSON: reported below.
  }
  return `reward.json is not an object of numbers: '${json.trim().slice(0, 100)}'`;
}

/** The reward that counts: `key`, else `reward`, else the only one. */
export function headline(rewards: Record<string, number>, key: string | null | undefined): number | string {
  const names = Object.keys(rewards);
  const wanted = key ?? (names.length === 1 ? names[0] : "reward") ?? "reward";
  return Object.hasOwn(rewards, wanted)
    ? (rewards[wanted] ?? 0)
    : `reward.json has ${names.join(", ")} and no '${wanted}': name one with reward_key`;
}
