/**
 * Writes OTLP messages in the binary form of protocol buffers. Field numbers: opentelemetry-proto 1.x.
 *
 * @module
 */

type Scalar =
  | "text"
  | "hex"
  | "fixed32"
  | "fixed64"
  | "double"
  | "enum"
  | "int64"
  | "bool"
  | "fixed64s"
  | "doubles";
type FieldType = Scalar | Fields;
/** The fields of a message by their names in JSON. */
interface Fields {
  readonly [name: string]: readonly [number: number, type: FieldType | (() => Fields)];
}

const ANY_VALUE: Fields = {
  stringValue: [1, "text"],
  boolValue: [2, "bool"],
  intValue: [3, "int64"],
  doubleValue: [4, "double"],
  arrayValue: [5, { values: [1, () => ANY_VALUE] }],
};
const ATTRIBUTE: Fields = { key: [1, "text"], value: [2, ANY_VALUE] };
const RESOURCE: Fields = { attributes: [1, ATTRIBUTE] };
const SCOPE: Fields = { name: [1, "text"] };
const SPAN: Fields = {
  traceId: [1, "hex"],
  spanId: [2, "hex"],
  traceState: [3, "text"],
  parentSpanId: [4, "hex"],
  name: [5, "text"],
  kind: [6, "enum"],
  startTimeUnixNano: [7, "fixed64"],
  endTimeUnixNano: [8, "fixed64"],
  attributes: [9, ATTRIBUTE],
  links: [13, { traceId: [1, "hex"], spanId: [2, "hex"], flags: [6, "fixed32"] }],
  status: [15, { message: [2, "text"], code: [3, "enum"] }],
  flags: [16, "fixed32"],
};
const NUMBER: Fields = {
  startTimeUnixNano: [2, "fixed64"],
  timeUnixNano: [3, "fixed64"],
  asDouble: [4, "double"],
  attributes: [7, ATTRIBUTE],
};
const HISTOGRAM: Fields = {
  startTimeUnixNano: [2, "fixed64"],
  timeUnixNano: [3, "fixed64"],
  count: [4, "fixed64"],
  sum: [5, "double"],
  bucketCounts: [6, "fixed64s"],
  explicitBounds: [7, "doubles"],
  attributes: [9, ATTRIBUTE],
  min: [11, "double"],
  max: [12, "double"],
};
const METRIC: Fields = {
  name: [1, "text"],
  description: [2, "text"],
  unit: [3, "text"],
  gauge: [5, { dataPoints: [1, NUMBER] }],
  sum: [7, { dataPoints: [1, NUMBER], aggregationTemporality: [2, "enum"], isMonotonic: [3, "bool"] }],
  histogram: [9, { dataPoints: [1, HISTOGRAM], aggregationTemporality: [2, "enum"] }],
};
const REQUEST: Fields = {
  resourceSpans: [1, { resource: [1, RESOURCE], scopeSpans: [2, { scope: [1, SCOPE], spans: [2, SPAN] }] }],
  // Of another request, so that the number can be the same.
  resourceMetrics: [
    1,
    { resource: [1, RESOURCE], scopeMetrics: [2, { scope: [1, SCOPE], metrics: [2, METRIC] }] },
  ],
};

const VARINT = 0;
const BITS_64 = 1;
const LENGTH = 2;
const BITS_32 = 5;

/** Writes a request to export spans or metrics, given in its JSON form. */
export function encodeRequest(request: Readonly<Record<string, unknown>>): Buffer {
  return Buffer.concat(encodeMessage(request, REQUEST));
}

function encodeMessage(message: Readonly<Record<string, unknown>>, fields: Fields): Buffer[] {
  const parts: Buffer[] = [];
  for (const name in message) {
    const field = fields[name];
    if (field === undefined) throw new Error(`OTLP has no field ${name}`);
    const [number, given] = field;
    const type = typeof given === "function" ? given() : given;
    const value = message[name];
    if (typeof type === "string") parts.push(...encodeScalar(number, type, value));
    else
      for (const each of Array.isArray(value) ? value : [value]) {
        const inner = encodeMessage(each as Record<string, unknown>, type);
        parts.push(...delimited(number, inner));
      }
  }
  return parts;
}

function encodeScalar(number: number, type: Scalar, value: unknown): Buffer[] {
  switch (type) {
    case "text":
      return delimited(number, [Buffer.from(String(value))]);
    case "hex":
      return delimited(number, [Buffer.from(String(value), "hex")]);
    case "enum":
      return [tag(number, VARINT), varint(BigInt(value as number))];
    case "int64":
      return [tag(number, VARINT), varint(BigInt.asUintN(64, BigInt(String(value))))];
    case "bool":
      return [tag(number, VARINT), varint(value ? 1n : 0n)];
    case "fixed32": {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(value as number);
      return [tag(number, BITS_32), bytes];
    }
    case "fixed64":
      return [tag(number, BITS_64), fixed64(value)];
    case "double":
      return [tag(number, BITS_64), double(value)];
    case "fixed64s":
      return delimited(number, (value as unknown[]).map(fixed64));
    case "doubles":
      return delimited(number, (value as unknown[]).map(double));
  }
}

function delimited(number: number, parts: readonly Buffer[]): Buffer[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return [tag(number, LENGTH), varint(BigInt(length)), ...parts];
}

const tag = (number: number, wireType: number): Buffer => varint(BigInt((number << 3) | wireType));

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

function fixed64(value: unknown): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(String(value)));
  return bytes;
}

function double(value: unknown): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value as number);
  return bytes;
}
