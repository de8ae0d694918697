import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface AnyValue {
  stringValue?: string;
  intValue?: string;
  doubleValue?: number;
  boolValue?: boolean;
  arrayValue?: { values: AnyValue[] };
}
interface KeyValue {
  key: string;
  value: AnyValue;
}

export interface ReceivedSpan {
  name: string;
  service: string;
  pid: number;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  kind: number;
  start: bigint;
  end: bigint;
  attributes: Record<string, unknown>;
  status: { code?: number; message?: string } | undefined;
  links: { traceId: string; spanId: string }[];
}

export interface ReceivedPoint {
  metric: string;
  service: string;
  attributes: Record<string, unknown>;
  value: number;
}

type Answer = (request: IncomingMessage, response: ServerResponse, signal: string) => void;

const accept: Answer = (_request, response) => void response.end("{}");

/** A receiver of OTLP over HTTP, with JSON or, unread, binary bodies. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** The last value of each point. */
  readonly points = new Map<string, ReceivedPoint>();
  readonly bodies: { signal: string; type: string | undefined; body: Buffer }[] = [];
  readonly headers: IncomingMessage["headers"][] = [];
  readonly #server: Server;

  constructor(answer: Answer = accept) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const signal = request.url?.split("/").at(-1) ?? "";
        const type = request.headers["content-type"];
        const body = Buffer.concat(chunks);
        this.bodies.push({ signal, type, body });
        this.headers.push(request.headers);
        if (type === "application/json") this.#read(JSON.parse(body.toString("utf8")) as Request);
        answer(request, response, signal);
      });
    });
  }

  async start(): Promise<this> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The values of a metric, by its attributes as JSON. */
  metric(name: string): ReceivedPoint[] {
    return [...this.points.values()].filter(({ metric }) => metric === name);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #read({ resourceSpans = [], resourceMetrics = [] }: Request): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      const about = plain(resource.attributes);
      for (const span of scopeSpans.flatMap(({ spans }) => spans))
        this.spans.push({
          name: span.name,
          service: String(about["service.name"]),
          pid: Number(about["process.pid"]),
          traceId: span.traceId,
          spanId: span.spanId,
          parentSpanId: span.parentSpanId,
          kind: span.kind,
          start: BigInt(span.startTimeUnixNano),
          end: BigInt(span.endTimeUnixNano),
          attributes: plain(span.attributes),
          status: span.status,
          links: span.links ?? [],
        });
    }
    for (const { resource, scopeMetrics } of resourceMetrics) {
      const service = String(plain(resource.attributes)["service.name"]);
      for (const { name, gauge, sum, histogram } of scopeMetrics.flatMap(({ metrics }) => metrics))
        for (const { attributes: given, asDouble, sum: total } of (gauge ?? sum ?? histogram)?.dataPoints ??
          []) {
          const attributes = plain(given);
          const value = asDouble ?? total ?? Number.NaN;
          this.points.set(JSON.stringify([name, service, attributes]), {
            metric: name,
            service,
            attributes,
            value,
          });
        }
    }
  }
}

interface Request {
  resourceSpans?: {
    resource: { attributes: KeyValue[] };
    scopeSpans: {
      spans: {
        name: string;
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        kind: number;
        startTimeUnixNano: string;
        endTimeUnixNano: string;
        attributes: KeyValue[];
        status?: { code?: number; message?: string };
        links?: { traceId: string; spanId: string }[];
      }[];
    }[];
  }[];
  resourceMetrics?: {
    resource: { attributes: KeyValue[] };
    scopeMetrics: {
      metrics: { name: string; gauge?: Points; sum?: Points; histogram?: Points }[];
    }[];
  }[];
}
interface Points {
  dataPoints: { attributes: KeyValue[]; asDouble?: number; sum?: number }[];
}

function plain(attributes: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue({ stringValue, intValue, doubleValue, boolValue, arrayValue }: AnyValue): unknown {
  return arrayValue?.values.map(plainValue) ?? stringValue ?? boolValue ?? doubleValue ?? Number(intValue);
}
