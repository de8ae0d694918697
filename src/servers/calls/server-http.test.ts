import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { ServerHttp } from "./server-http.ts";

let http = new ServerHttp();
let server: Server | undefined;
let connections = 0;

afterEach(async () => {
  await http.close();
  http = new ServerHttp();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve) ?? resolve(undefined));
  server = undefined;
});

async function serve(listener: RequestListener): Promise<string> {
  connections = 0;
  const created = createServer(listener);
  server = created;
  created.on("connection", () => connections++);
  await new Promise<void>((resolve) => created.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(created.address() as AddressInfo).port}`;
}

describe("ServerHttp", () => {
  it("sends body, cookies and headers, and reads text and cookies", async () => {
    const origin = await serve((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk: string) => {
        body += chunk;
      });
      request.on("end", () => {
        response.setHeader("set-cookie", ["a=1; path=/", "b=2"]);
        response.writeHead(201);
        // In two chunks that split a character.
        const text = Buffer.from(
          JSON.stringify([
            request.method,
            request.url,
            request.headers.cookie,
            request.headers["x-y"],
            body,
            "€",
          ]),
        );
        response.write(text.subarray(0, text.length - 4));
        setImmediate(() => response.end(text.subarray(text.length - 4)));
      });
    });
    const reply = await http.request(origin, {
      method: "POST",
      path: "/a b",
      body: '{"ä":1}',
      cookies: { c: "3" },
      headers: { "x-y": "z" },
    });
    expect(reply.status).toBe(201);
    expect(JSON.parse(reply.text)).toEqual(["POST", "/a%20b", "c=3", "z", '{"ä":1}', "€"]);
    expect({ ...reply.cookies }).toEqual({ a: "1", b: "2" });
  });

  it("reuses a free connection, and opens as many as needed", async () => {
    const origin = await serve((_request, response) => setTimeout(() => response.end("ok"), 20));
    for (let turn = 0; turn < 3; turn++) await http.request(origin, { method: "GET", path: "/" });
    expect(connections).toBeLessThanOrEqual(2);
    await Promise.all(Array.from({ length: 8 }, () => http.request(origin, { method: "GET", path: "/" })));
    expect(connections).toBeGreaterThanOrEqual(8);
  });

  it("ends a request when its signal fires, and continues with the next", async () => {
    let hang = true;
    const origin = await serve((_request, response) => {
      if (!hang) response.end("ok");
    });
    const controller = new AbortController();
    const waiting = http.request(origin, { method: "GET", path: "/", signal: controller.signal });
    setTimeout(() => controller.abort(new Error("enough")), 30);
    await expect(waiting).rejects.toThrow("enough");
    hang = false;
    expect((await http.request(origin, { method: "GET", path: "/" })).text).toBe("ok");
    await expect(
      http.request(origin, { method: "GET", path: "/", signal: controller.signal }),
    ).rejects.toThrow("enough");
  });

  it("reports refused and broken connections, and recovers", async () => {
    const refused = http.request("http://127.0.0.1:1", { method: "GET", path: "/" });
    await expect(refused).rejects.toMatchObject({ code: "ECONNREFUSED" });
    let broken = true;
    const origin = await serve((request, response) => {
      if (broken) request.socket.destroy();
      else response.end("back");
    });
    await expect(http.request(origin, { method: "GET", path: "/" })).rejects.toMatchObject({
      code: "CONNECTION_CLOSED",
    });
    broken = false;
    expect((await http.request(origin, { method: "GET", path: "/" })).text).toBe("back");
  });
});
