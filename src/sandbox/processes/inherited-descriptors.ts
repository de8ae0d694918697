import { openSync, readdirSync, readFileSync } from "node:fs";

const CLOSE_ON_EXEC = 0o2000000;
/** Standard input, output and error, and three further descriptors of sandboxes. */
const OURS = 6;

let devNull: number | undefined;

/**
 * The `stdio` of a child with /dev/null in place of descriptors that this process inherited and would pass on, such as a lock,
 * a log or the end of a pipe. Programs in a sandbox cannot reach them.
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
        // Closed since the listing, like the descriptor of the listing itself.
        return false;
      }
    });
}
