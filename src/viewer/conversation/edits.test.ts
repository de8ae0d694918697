import { expect, it } from "vitest";
import { editOf } from "./edits.ts";

it("shows a replaced text as a patch", () => {
  expect(
    editOf({
      command: "str_replace",
      path: "a.py",
      old_str: "def f():\n  return 1\n",
      new_str: "def f():\n  x = 2\n  return x\n",
    }),
  ).toEqual({
    patch: "--- a.py\n+++ a.py\n def f():\n-  return 1\n+  x = 2\n+  return x\n ",
    others: { command: "str_replace", path: "a.py" },
  });
  expect(editOf({ old_string: "a\n", new_string: "" })?.patch).toBe("--- text\n+++ text\n-a\n ");
});

it("leaves other arguments alone", () => {
  for (const value of [
    null,
    "x",
    [],
    {},
    { old_str: "a\nb" },
    { old_str: "a", new_str: "b" },
    { search: 1, replace: "a\nb" },
  ])
    expect(editOf(value)).toBeUndefined();
});
