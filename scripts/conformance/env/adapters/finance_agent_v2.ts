import type { Adapter } from "../adapters.ts";
import { isObject } from "../rows.ts";

export const adapter: Adapter = {
  config: () => ({ judge_retry_delay_factor: 0 }),
  // Fixtures have only the number of the samples.
  comparable: (body) => ({
    ...body,
    ...(Array.isArray(body["rubric_judgements"]) && {
      rubric_judgements: body["rubric_judgements"].map((item: unknown) =>
        isObject(item) && Array.isArray(item["failed_reply_samples"])
          ? { ...item, failed_reply_samples: item["failed_reply_samples"].length }
          : item,
      ),
    }),
  }),
};
