import type { Adapter } from "../adapters.ts";

/** The fixtures contain only the labels of the evaluations. */
export const adapter: Adapter = { unlisted: ["judge_evaluations"] };
