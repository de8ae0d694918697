import { silentLogger } from "../../../base/door.ts";
import type { JsonObject } from "../../../base/python/json/door.ts";
import { findPath } from "../../../config/paths.ts";
import { type LocalServer, Reply, RunClient } from "../../../servers/calls/door.ts";
import type { ServerDefinition } from "../../../servers/definitions/door.ts";
import { createApp, TestServer } from "../../../servers/hosting/door.ts";
import { messageItem, verifyBody } from "../../../servers/hosting/light-door.ts";
import type { ExpectedVerdict } from "./settings.ts";

/** The behaviour of the fake judge that replaces every other server of the config. */
export type JudgeMode =
  | "accept"
  | "reject"
  /** Quotes the request before it rejects, so that a verdict in the answer comes first. */
  | "quote-and-reject"
  /** Answers with a text that is not a verdict. */
  | "babble"
  | "fail";

export interface ServerUnderAudit {
  readonly name: string;
  readonly implementation: string;
  readonly directory: string;
  readonly definition: ServerDefinition;
  readonly config: JsonObject;
  readonly globalConfig: JsonObject;
  /** The other servers of the config, by name. */
  readonly others: readonly string[];
  readonly roots: readonly string[];
  readonly verdicts?: { readonly accept: ExpectedVerdict; readonly reject: ExpectedVerdict };
}

/** Starts a fresh copy of the server, with a fake judge in place of every other server. */
export async function startServer(
  server: ServerUnderAudit,
  judge: JudgeMode,
  onJudgeCall: () => void,
): Promise<TestServer> {
  const local = new Map<string, LocalServer>();
  for (const name of server.others)
    local.set(name, {
      async handle({ path, body }) {
        onJudgeCall();
        return judgement(server, judge, path, body);
      },
    });
  const { name, directory, globalConfig } = server;
  const app = createApp(
    server.definition,
    {
      name,
      directory,
      globalConfig,
      client: new RunClient({ addresses: new Map(), local }),
      log: silentLogger,
      findFile: (file) => findPath(file, server.roots),
    },
    server.config,
    { implementation: server.implementation },
  );
  await app.start();
  return new TestServer(app);
}

function judgement(server: ServerUnderAudit, mode: JudgeMode, path: string, body: unknown) {
  if (mode === "fail") return new Reply({ status: 500, body: { error: "the judge is out of order" } });
  const { verdicts } = server;
  const accept = verdictFor(verdicts?.accept ?? "yes", body);
  const reject = verdictFor(verdicts?.reject ?? "no", body);
  const said = {
    accept,
    reject,
    babble: "Well, that depends on how one looks at it",
    "quote-and-reject": `I was asked: ${textsIn(body).join("\n")}\n\nI am not convinced.\n${reject}`,
  }[mode];
  const reply = path.endsWith("/chat/completions")
    ? chatReply(said)
    : verifyBody({}, messageItem(said))["response"];
  return new Reply({ body: reply });
}

function verdictFor(verdict: ExpectedVerdict, body: unknown): string {
  if (typeof verdict === "string") return verdict;
  const request = textsIn(body).join("\n");
  return Object.entries(verdict).find(([text]) => request.includes(text))?.[1] ?? "";
}

function chatReply(content: string): object {
  const message = { role: "assistant", content };
  return {
    id: "chatcmpl_audit",
    object: "chat.completion",
    created: 0,
    model: "judge",
    choices: [{ index: 0, message, finish_reason: "stop", logprobs: null }],
  };
}

/** All texts of a request. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== "object" || value === null) return [];
  const { content, input, text, messages } = value as Record<string, unknown>;
  return [input, messages, content, text].flatMap(textsIn);
}
