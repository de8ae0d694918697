/** Optimising texts. */

export { type OptimizeEvent, type OptimizeResult, optimize } from "./optimize.ts";
export type { OptimizeOptions } from "./options.ts";
export { conclusionOf } from "./report.ts";
