import { expect, it } from "vitest";
import { renderGroups } from "./groups.ts";
import { createTerminal } from "./terminal.ts";
import { textWidth } from "./text-width.ts";

const terminal = createTerminal({ write: () => true }, { COLUMNS: "60" });

it("fits names and texts into the width", () => {
  const long = "a_resources_server_with_a_long_name/and_a_flavor_with_a_longer_one";
  const text = renderGroups(
    "All (3)",
    [
      {
        heading: "math",
        items: [{ name: "short", text: "Word problems of primary school, answered with one number" }],
      },
      {
        heading: "other",
        items: [
          { name: long, text: "Something", note: "benchmark" },
          { name: "plain", text: "" },
        ],
      },
    ],
    terminal,
  );
  expect(text).toBe(`All (3)

math
  short                       Word problems of primary
                              school, answered with one
                              number

other
  a_resources_server_with_a_long_name/
  and_a_flavor_with_a_longer_one
                              Something [benchmark]
  plain`);
  for (const line of text.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(60);
});
