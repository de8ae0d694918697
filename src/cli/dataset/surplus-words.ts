import { isJsonWord } from "../arguments.ts";
import { UsageError } from "../usage-error.ts";
import type { DatasetContext } from "./context.ts";

/** For commands that read no config: refuses words and overrides, which nothing would look at. */
export function refuseSurplusWords({ overrides }: DatasetContext): void {
  const surplus = overrides.filter((word) => typeof word === "string").filter((word) => !isJsonWord(word));
  if (surplus.length === 0) return;
  throw new UsageError(`unrecognized arguments: ${surplus.join(" ")} (the command reads no config)`);
}
