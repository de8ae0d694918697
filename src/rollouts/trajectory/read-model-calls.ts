import { existsSync } from "node:fs";
import { z } from "zod";
import type { ModelCallLine } from "../../capture/model-call-log.ts";
import { modelCallFiles } from "../../capture/rollout-files.ts";
import { errorMessage } from "../../errors.ts";
import { readLineBatches } from "../files/jsonl-reader.ts";
import { type CallRecord, callRecord } from "./call-record.ts";
import type { Gap } from "./trajectory-parts.ts";

/** The calls of a rollout are in memory at once; a row could not hold more anyway. */
const MAX_CAPTURE_BYTES = 128 * 1024 * 1024;

const object = z.record(z.string(), z.unknown());
const Line = z.looseObject({
  model_call_id: z.string().min(1),
  dialect: z.enum(["responses", "chat", "messages"]),
  model_ref: object.nullish(),
  request: object.nullish(),
  response: object.nullish(),
});

export interface CapturedCalls {
  calls: CallRecord[];
  gaps: Gap[];
}

/** Reads what model servers recorded of a rollout; whatever is missing is a gap, never a failure. */
export async function readModelCalls(directory: string, rolloutId: string): Promise<CapturedCalls> {
  const files = modelCallFiles(directory, rolloutId);
  const calls: CallRecord[] = [];
  const gaps: Gap[] = [];
  let unreadable = 0;
  let index = 0;
  let bytes = 0;
  try {
    for await (const batch of existsSync(files.records) ? readLineBatches(files.records) : []) {
      for (const line of batch) {
        if (line.text.trim() === "") continue;
        bytes += line.byteLength;
        if (bytes > MAX_CAPTURE_BYTES) throw new Error(`more than ${MAX_CAPTURE_BYTES} bytes`);
        const call = parseLine(line.text);
        if (call) calls.push(callRecord(call, index));
        else unreadable++;
        index++;
      }
    }
  } catch (error) {
    gaps.push({ code: "model_call_capture_unreadable", detail: errorMessage(error) });
  }
  if (unreadable > 0)
    gaps.push({ code: "model_call_capture_records_unreadable", detail: `count=${unreadable}` });
  if (existsSync(files.incomplete)) gaps.push({ code: "model_call_capture_incomplete" });
  else if (index === 0 && gaps.length === 0) gaps.push({ code: "model_call_capture_no_records" });
  return { calls, gaps };
}

function parseLine(text: string): ModelCallLine | undefined {
  try {
    const { request, response, ...line } = Line.parse(JSON.parse(text));
    return { ...line, request: request ?? null, response: response ?? null } as unknown as ModelCallLine;
  } catch {
    // Counted by the caller: half a line of a writer that was killed.
    return undefined;
  }
}
