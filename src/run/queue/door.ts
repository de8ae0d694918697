/** The queue between a collector and its workers. It loads the NATS client. */

export { RunBoard, type RunRecord, type WorkerRecord } from "./board.ts";
export { type Broker, connectBroker } from "./broker.ts";
export type { BrokerSettings } from "./broker-settings.ts";
export { askControl, collectorSubject, workerSubject } from "./control.ts";
export { QueueError } from "./errors.ts";
export { deleteRunStream, runStreamStats } from "./run-stream.ts";
