import type { InferredProfile } from "./infer-profile.ts";

const METHOD = /^([ \t]+)(?:async +)?def +responses *\(/m;
const SUPER_CALL = /^return +(?:await +)?super\(\)\.responses\(/;
const NOT_IMPLEMENTED = /^raise +NotImplementedError\b/;

/** Tells the profile of an agent written in Python from its text. */
export function inspectPythonAgent(source: string): InferredProfile {
  const method = METHOD.exec(source);
  if (method !== null) {
    const body = statements(source, method.index, method[1]?.length ?? 0);
    if (body.length === 1 && SUPER_CALL.test(body[0] ?? ""))
      return { profile: "unknown", evidence: "the agent's responses() only calls that of its base class" };
    if (body.length === 1 && NOT_IMPLEMENTED.test(body[0] ?? ""))
      return {
        profile: "external-agent-loop",
        evidence: "the agent's responses() raises NotImplementedError",
      };
    if (body.some((line) => NOT_IMPLEMENTED.test(line)))
      return { profile: "unknown", evidence: "what the agent's responses() does depends on its config" };
    return { profile: "custom-gym-agent-loop", evidence: "the agent has a responses() of its own" };
  }
  if (/^class +\w+\((?:[^)]*[,. ])?SimpleAgent\b/m.test(source))
    return { profile: "custom-gym-verifier", evidence: "the agent keeps the responses() of SimpleAgent" };
  return { profile: "unknown", evidence: "the agent's class shows no responses()" };
}

/** The lines of a method's body, without blank lines, comments and a doc string. */
function statements(source: string, start: number, indent: number): string[] {
  const lines = source.slice(start).split("\n");
  const opened = lines.findIndex((line) => /:\s*(?:#.*)?$/.test(line));
  const body: string[] = [];
  for (const line of lines.slice(opened + 1)) {
    if (line.trim() !== "" && line.length - line.trimStart().length <= indent) break;
    const text = line.trim();
    if (text !== "" && !text.startsWith("#")) body.push(text);
  }
  const quote = /^[rbu]?("""|''')/i.exec(body[0] ?? "")?.[1];
  if (quote === undefined) return body;
  const oneLine = (body[0] ?? "").lastIndexOf(quote) > (body[0] ?? "").indexOf(quote);
  const end = oneLine ? 0 : body.findIndex((line, index) => index > 0 && line.endsWith(quote));
  return end < 0 ? [] : body.slice(end + 1);
}
