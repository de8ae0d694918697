import { freemem, totalmem } from "node:os";
import type { Tracer } from "./tracer.ts";

/** Returns a function that measures the memory of this process and of the machine. */
export function measureMemory(tracer: Tracer): () => void {
  let ownPeak = 0;
  let hostPeak = 0;
  return () => {
    const own = process.memoryUsage.rss();
    const [total, available] = [totalmem(), freemem()];
    ownPeak = Math.max(ownPeak, own);
    hostPeak = Math.max(hostPeak, total - available);
    tracer.record("gym.server.memory.usage", own);
    tracer.record("gym.server.memory.sampled_peak", ownPeak);
    tracer.record("gym.host.memory.usage", total - available);
    tracer.record("gym.host.memory.available", available);
    tracer.record("gym.host.memory.total", total);
    tracer.record("gym.host.memory.sampled_peak", hostPeak);
  };
}
