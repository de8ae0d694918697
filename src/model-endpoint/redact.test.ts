import { expect, it } from "vitest";
import { answerRedactor, redactor } from "./redact.ts";

it("takes secrets out in every form they have in texts", () => {
  const secret = 'sk-a"b/c+d==';
  const redact = redactor([secret, "EMPTY", undefined]);
  expect(
    redact(`key ${secret}, url ?k=${encodeURIComponent(secret)}, json ${JSON.stringify({ secret })}`),
  ).toBe('key ****, url ?k=****, json {"secret":"****"}');
  expect(redact("EMPTY is a word")).toBe("EMPTY is a word");
});

it.each([" sk-abcdef1234 ", "sk-abcdef1234\n", "Bearer sk-abcdef1234"])(
  "knows %j as an endpoint got it",
  (secret) => {
    expect(redactor([secret])("refused: sk-abcdef1234.")).toBe("refused: ****.");
  },
);

it("takes only what is a key beyond doubt out of answers", () => {
  const redact = answerRedactor(["sk-SECRET-abcdef1234567890 ", "sk-no-key-required", "not-needed"]);
  const text = "sk-no-key-required is not-needed here; sk-SECRET-abcdef1234567890 is";
  expect(redact(text)).toBe("sk-no-key-required is not-needed here; **** is");
});

it("knows a key in JSON that was written into JSON", () => {
  const key = 'sk-a/b+c=12345678"q90xyz';
  const echoed = JSON.stringify({ output_text: JSON.stringify({ authorization: `Bearer ${key}` }) });
  expect(answerRedactor([key])(echoed)).not.toContain("12345678");
});
