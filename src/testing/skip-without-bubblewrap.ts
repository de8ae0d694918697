import { isInstalled } from "../base/door.ts";

/**
 * Whether to skip tests that run programs: bubblewrap is not installed, and `CI` is not set.
 *
 * @example
 * describe.skipIf(skipWithoutBubblewrap)("my environment", () => { … });
 */
export const skipWithoutBubblewrap = process.env["CI"] === undefined && !isInstalled("bwrap");
if (skipWithoutBubblewrap) console.warn("bubblewrap is not installed: tests that run programs are left out");
