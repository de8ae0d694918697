/** The traces and metrics of a process. It loads the HTTP client; spans are at the light door. */

export { Telemetry, type TelemetryOptions } from "./telemetry.ts";
