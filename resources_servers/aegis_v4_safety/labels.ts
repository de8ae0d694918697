import { strip } from "nemo-gym/python";

type Safety = "safe" | "unsafe" | null;

const NO_CATEGORY = new Set(["", "n/a", "na", "none", "null", "safe"]);

/** The labels in the lines of a reply; the last of several counts. `missing` names the ones it lacks. */
export function readLabels(reply: string) {
  const user_safety = safetyOf(reply, "User");
  const response_safety = safetyOf(reply, "Response");
  const missing = [
    ...(user_safety === null ? ["User Safety"] : []),
    ...(response_safety === null ? ["Response Safety"] : []),
  ];
  return { user_safety, response_safety, safety_categories: categoriesOf(reply), missing };
}

function safetyOf(reply: string, who: "User" | "Response"): Safety {
  const found = [
    ...reply.matchAll(new RegExp(`^[^\\S\\n]*${who}\\s+Safety\\s*:\\s*(safe|unsafe)[^\\S\\n]*$`, "gim")),
  ];
  return (found.at(-1)?.[1]?.toLowerCase() as Safety | undefined) ?? null;
}

function categoriesOf(reply: string): string[] {
  const found = [...reply.matchAll(/^[^\S\n]*Safety\s+Categories\s*:([^\n]*)$/gim)].at(-1)?.[1] ?? "";
  return found
    .split(",")
    .map((category) => strip(category))
    .filter((category) => !NO_CATEGORY.has(category.toLowerCase()));
}
