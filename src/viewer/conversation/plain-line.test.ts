import { expect, it } from "vitest";
import { plainLine } from "./plain-line.ts";

it.each([
  ["### Repaired\n\nThe **empty** field was `lost`.", "Repaired The empty field was `lost`."],
  ["<think>\nFirst I add.\n</think>\n\nThe answer is **4**.", "The answer is 4."],
  ["First I add.</think> 4", "4"],
  ["<think>I never stop", "I never stop"],
  ["<think>cut</think>", "cut</think>"],
  ["\u001b[31mFAILED\u001b[0m tests\r\n 10 %", "FAILED tests 10 %"],
  ["| a | b |\n|---|:-:|\n| 1 | 2 |", "| a | b | | 1 | 2 |"],
  ["```python\nprint(2**3, 4**5)\n```", "print(2**3, 4**5)"],
  ["# # #\n#@. #", "# # # #@. #"],
  ["x ** y ** z and #7", "x ** y ** z and #7"],
])("shows the beginning of %j as text", (text, shown) => {
  expect(plainLine(text)).toBe(shown);
});

it("takes long lines of marks", () => {
  expect(plainLine(`|${"-".repeat(5_000)}x`)).toHaveLength(1000);
  expect(plainLine("**a".repeat(2_000))).toHaveLength(1000);
});
