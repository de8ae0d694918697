/** What the members of a body mean: ids, results, text. */

export { newId } from "./ids.ts";
export { stripMcpPrefix, textParts } from "./read-output.ts";
export { resultJson } from "./result-json.ts";
export { sampleSchema, seededRandom } from "./sample-schema.ts";
export { isTaskRow, materializeTask } from "./task-row.ts";
