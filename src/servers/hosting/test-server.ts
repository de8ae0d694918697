import { silentLogger } from "../../base/door.ts";
import type { JsonObject } from "../../base/python/json/door.ts";
import { type Cookies, mergeCookies, NO_COOKIES } from "../calls/cookies.ts";
import { type LocalServer, RunClient } from "../calls/run-client.ts";
import { Reply, splitQuery } from "../calls/server-call.ts";
import type { ServerDefinition } from "../definitions/definitions.ts";
import type { ServerApp } from "./app.ts";
import { createApp } from "./apps/create-app.ts";
import { streamedText } from "./body.ts";

/**
 * Answers a call to a scripted server: a body, a body with a status, or a `Reply`. An exception simulates a failed
 * connection.
 */
export type ScriptedServer = (path: string, body: unknown, cookies: Cookies) => unknown;

export interface TestServerOptions {
  /** The server's own config block. */
  config?: JsonObject;
  /** The whole config of the run. */
  globalConfig?: JsonObject;
  /** Instance name; default `test_server`. */
  name?: string;
  /** Folder of the implementation, for servers that read files next to their code. */
  directory?: string;
  /** Other servers of the run by name: scripted, or running apps. */
  servers?: Record<string, ScriptedServer | ServerApp>;
}

export interface TestReply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape they are about to assert
  body: any;
  text: string;
  cookies: Cookies;
}

/** A cookie jar: one jar is one session. */
export class Jar {
  cookies: Cookies = NO_COOKIES;
}

/** A server under test, called without a port but through the same routes, schemas and error mapping. */
export class TestServer {
  readonly app: ServerApp;
  #jar = new Jar();

  constructor(app: ServerApp) {
    this.app = app;
  }

  newJar(): Jar {
    return new Jar();
  }

  async request(
    method: "GET" | "POST",
    path: string,
    body: unknown,
    jar: Jar = this.#jar,
  ): Promise<TestReply> {
    const reply = await this.app.handle({
      method,
      ...splitQuery(path),
      // Serialized and parsed, as over HTTP: no shared references, only JSON values.
      body: body === undefined ? undefined : JSON.parse(JSON.stringify(body)),
      cookies: jar.cookies,
      headers: {},
      signal: new AbortController().signal,
    });
    jar.cookies = mergeCookies(jar.cookies, reply.cookies);
    const text = await streamedText(reply);
    const isJson = !reply.stream && !reply.headers?.["content-type"]?.startsWith("text/plain");
    const value = isJson ? JSON.parse(text) : undefined;
    return { status: reply.status, body: value, text, cookies: reply.cookies };
  }

  post(path: string, body?: unknown, jar?: Jar): Promise<TestReply> {
    return this.request("POST", path, body, jar);
  }
  get(path: string, jar?: Jar): Promise<TestReply> {
    return this.request("GET", path, undefined, jar);
  }
  seed(row: unknown, jar?: Jar): Promise<TestReply> {
    return this.post("/seed_session", row, jar);
  }
  tool(name: string, input?: unknown, jar?: Jar): Promise<TestReply> {
    return this.post(`/${name}`, input, jar);
  }
  verify(body: unknown, jar?: Jar): Promise<TestReply> {
    return this.post("/verify", body, jar);
  }
  close(): Promise<void> {
    return this.app.close();
  }
}

/**
 * Starts a definition for a test, without a port.
 *
 * @example
 * const server = await createTestServer(definition, { config: { max_turns: 3 } });
 * await server.seed({ initial_count: 3 });
 * expect((await server.tool("increment_counter", { count: 2 })).body).toEqual({ success: true });
 */
export async function createTestServer(
  definition: ServerDefinition,
  options: TestServerOptions = {},
): Promise<TestServer> {
  const local = new Map<string, LocalServer>();
  // Servers under test have no port; programs that need an address get an unreachable one.
  const addresses = new Map<string, string>();
  for (const [name, server] of Object.entries(options.servers ?? {})) {
    local.set(name, typeof server === "function" ? scripted(server) : server);
    addresses.set(name, `http://${name.replaceAll("_", "-")}.invalid`);
  }
  const { name = "test_server", directory = process.cwd(), globalConfig = {}, config = {} } = options;
  const app = createApp(
    definition,
    {
      name,
      directory,
      globalConfig,
      client: new RunClient({ addresses, local }),
      log: silentLogger,
      findFile: (path) => path,
    },
    config,
    { implementation: name },
  );
  await app.start();
  return new TestServer(app);
}

function scripted(server: ScriptedServer): LocalServer {
  return {
    async handle({ path, body, cookies }) {
      const answer = await server(path, JSON.parse(JSON.stringify(body ?? null)), cookies);
      if (answer instanceof Reply) return answer;
      const { status, body: inner } = (answer ?? {}) as { status?: unknown; body?: unknown };
      const withStatus = typeof status === "number" && inner !== undefined;
      return new Reply({ status: withStatus ? status : 200, body: withStatus ? inner : answer });
    },
  };
}
