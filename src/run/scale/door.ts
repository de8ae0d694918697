/** Planning the size of a run from what was measured. */

export { type MeasuredScale, measuredScale, NothingMeasured, planScale, type ScalePlan } from "./plan.ts";
export { readResources } from "./resources.ts";
