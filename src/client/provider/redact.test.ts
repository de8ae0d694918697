import { expect, it } from "vitest";
import { redactor } from "./redact.ts";

it("takes secrets out in every form they have in texts", () => {
  const secret = 'sk-a"b/c+d==';
  const redact = redactor([secret, "EMPTY", undefined]);
  expect(
    redact(`key ${secret}, url ?k=${encodeURIComponent(secret)}, json ${JSON.stringify({ secret })}`),
  ).toBe('key ****, url ?k=****, json {"secret":"****"}');
  expect(redact("EMPTY is a word")).toBe("EMPTY is a word");
});
