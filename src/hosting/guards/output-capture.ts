import { StringDecoder } from "node:string_decoder";
import { callingFiles, isCore } from "./calling-code.ts";
import { type HostedCode, serverOfFile } from "./hosted-code.ts";
import { LineSplitter } from "./line-splitter.ts";

export type OutputStream = "stdout" | "stderr";

type Write = typeof process.stdout.write;

/**
 * Takes what the code of these servers writes to the output of the process they share, line by line; the writer is known
 * by its stack. Everything else goes where it went. Gives back how to end it.
 */
export function captureOutput(
  code: readonly HostedCode[],
  onLine: (server: string, line: string, stream: OutputStream) => void,
): () => void {
  const ends = (["stdout", "stderr"] as const).map((name) => {
    const stream = process[name];
    const write = stream.write;
    const servers = new Map<string, { decoder: StringDecoder; lines: LineSplitter }>();
    const captured = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
      const server = writingServer(code);
      if (server === undefined)
        return (write as (...words: unknown[]) => boolean).call(stream, chunk, ...rest);
      let writer = servers.get(server);
      if (!writer) {
        const lines = new LineSplitter((line) => onLine(server, line, name));
        writer = { decoder: new StringDecoder("utf8"), lines };
        servers.set(server, writer);
      }
      writer.lines.add(typeof chunk === "string" ? chunk : writer.decoder.write(Buffer.from(chunk)));
      const done = rest.find((word) => typeof word === "function") as (() => void) | undefined;
      if (done) process.nextTick(done);
      return true;
    };
    stream.write = captured as Write;
    return () => {
      for (const { lines } of servers.values()) lines.end();
      if (stream.write === captured) stream.write = write;
    };
  });
  return () => {
    for (const end of ends) end();
  };
}

/** Our own code nearest to the write, as when a server logs through us, means that it is ours. */
function writingServer(code: readonly HostedCode[]): string | undefined {
  for (const file of callingFiles().slice(FRAMES_HERE)) {
    const server = serverOfFile(file, code);
    if (server !== undefined) return server;
    if (isCore(file)) return undefined;
  }
  return undefined;
}

/** callingFiles, writingServer and the function in place of `write`. */
const FRAMES_HERE = 3;
