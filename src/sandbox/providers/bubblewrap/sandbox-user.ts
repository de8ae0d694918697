import { readFileSync } from "node:fs";

/** A range no distribution gives to users or containers. */
const FIRST = 1_900_000_000;
const COUNT = 100_000_000;
/** For containers, where only the lowest 65,536 exist. */
const FIRST_OF_FEW = 60_100;
const COUNT_OF_FEW = 4_000;

/**
 * The user of this machine whose rights a sandbox has: ourselves, unless that is root. Root gets one without rights, a
 * different one for each sandbox, so that none can touch the processes of another and the process limit counts its own only.
 */
export function sandboxUser(random: () => number = Math.random): number | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [first, count] = highestUser() >= FIRST + COUNT ? [FIRST, COUNT] : [FIRST_OF_FEW, COUNT_OF_FEW];
  return first + Math.floor(random() * count);
}

function highestUser(): number {
  const rows = readFileSync("/proc/self/uid_map", "utf8").trim().split("\n");
  return Math.max(
    ...rows.map((row) => {
      const [inside = 0, , length = 0] = row.trim().split(/\s+/).map(Number);
      return inside + length - 1;
    }),
  );
}
