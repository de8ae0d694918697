import { describe, expect, it } from "vitest";
import { ExtendedStatistics } from "./extended-statistics.ts";

describe("ExtendedStatistics", () => {
  it("counts distinct params and user messages and summarizes sampling parameters", () => {
    const statistics = new ExtendedStatistics((text) => text.length);
    const message = (content: unknown) => ({
      input: [
        { role: "system", content: "s" },
        { role: "user", content },
      ],
    });
    statistics.observe({ ...message("hi"), temperature: 0.5 });
    statistics.observe({ ...message("hi"), temperature: 1, top_p: null });
    statistics.observe({ input: "hi" });
    statistics.observe({ input: "hi" });
    statistics.observe(message([{ type: "input_text", text: "hi" }]));
    const summary = statistics.summary();
    expect(summary).toMatchObject({ uniqueCreateParams: 4, uniqueUserMessages: 2 });
    expect(Object.keys(summary.samplingParameters)).toEqual(["temperature"]);
    expect(summary.samplingParameters["temperature"]).toMatchObject({ total: 2, average: 0.75 });
    expect(summary.tokens?.total).toBe(5);
    expect(new ExtendedStatistics().summary().tokens).toBeUndefined();
  });
});
