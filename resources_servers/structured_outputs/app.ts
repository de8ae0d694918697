import { defineResourcesServer } from "nemo-gym";
import { laxBool, outputText } from "nemo-gym/openai";
import { z } from "zod";
import { type Fault, payloadFault, textFault } from "./evaluate.ts";
import { structuredOutputsMetrics } from "./metrics.ts";
import { Row } from "./row.ts";
import { toolPayload } from "./tool-payload.ts";

const shownCharacters = 200;

/** Output in JSON, YAML, XML, TOML or CSV, or as the arguments of a tool call, that must match a schema exactly. */
export default defineResourcesServer({
  config: z.object({ xml_coerce_types: laxBool().default(true) }),
  row: Row,
  metrics: structuredOutputsMetrics,
  verify({ config, row, response }) {
    let fault: Fault | undefined;
    if (row.response_mode === "tool_call") {
      const payload = toolPayload(response, row.tool_name, row.tool_payload_key);
      fault = "fault" in payload ? payload.fault : payloadFault(payload.value, row.schema_str);
    } else {
      fault = textFault(outputText(response), row.schema_type, row.schema_str, {
        coerceXmlTypes: config.xml_coerce_types,
      });
    }
    return {
      reward: fault ? 0 : 1,
      error_type: fault?.type ?? null,
      error_message: fault?.message.slice(0, shownCharacters) ?? null,
    };
  },
});
