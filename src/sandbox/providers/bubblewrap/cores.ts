import { readFileSync } from "node:fs";

let next = 0;

/** A list for `taskset` with so many of the cores this process may use, other ones each time; undefined when that is all. */
export function pickCores(cpu: number, allowed: readonly number[] = allowedCores()): string | undefined {
  const count = Math.max(1, Math.ceil(cpu));
  if (count >= allowed.length) return undefined;
  const picked = Array.from({ length: count }, (_, index) => allowed[(next + index) % allowed.length]);
  next = (next + count) % allowed.length;
  return picked.join(",");
}

function allowedCores(): number[] {
  const status = readFileSync("/proc/self/status", "utf8");
  return parseCoreList(/^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1] ?? "");
}

/** `0-3,8` */
function parseCoreList(text: string): number[] {
  return text.split(",").flatMap((part) => {
    const [first, last = first] = part.split("-").map(Number);
    if (first === undefined || last === undefined || Number.isNaN(first + last)) return [];
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
