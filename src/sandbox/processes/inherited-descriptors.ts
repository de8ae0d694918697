import { openSync, readdirSync, readFileSync } from "node:fs";

const CLOSE_ON_EXEC = 0o2000000;
/** Standard input, output, error, and the three that sandboxes are started with. */
const OURS = 6;

let devNull: number | undefined;

/**
 * Descriptors above ours that this process inherited open and would pass on: a lock, a log, the end of somebody's pipe.
 * In a child's `stdio` each gets /dev/null put over it, so that nothing in a sandbox can reach it.
 */
export function coverInherited(stdio: ("pipe" | "ignore")[]): ("pipe" | "ignore" | number)[] {
  const covered: ("pipe" | "ignore" | number)[] = [...stdio];
  while (covered.length < OURS) covered.push("ignore");
  for (const descriptor of inheritable()) {
    if (descriptor < 3 || (stdio[descriptor] ?? "ignore") !== "ignore") continue;
    while (covered.length <= descriptor) covered.push("ignore");
    devNull ??= openSync("/dev/null", "r");
    covered[descriptor] = devNull;
  }
  return covered;
}

function inheritable(): number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((descriptor) => {
      try {
        const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8");
        const flags = Number.parseInt(/^flags:\s*(\d+)/m.exec(info)?.[1] ?? "", 8);
        return (flags & CLOSE_ON_EXEC) === 0;
      } catch {
        // Closed since it was listed, like the one the listing itself used.
        return false;
      }
    });
}
