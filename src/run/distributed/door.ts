/** Workers of a distributed run. */

export type { WorkerEvent } from "./options.ts";
export { runWorker } from "./worker.ts";
