import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { expect, it } from "vitest";
import { FrameSocket } from "./frame-socket.ts";

/** A socket that goes on receiving after `destroySoon`, as one with data in its buffers does. */
function open(received: (text: string, frames: FrameSocket) => void) {
  const socket = Object.assign(new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }), {
    destroySoon: () => {},
  });
  let closed = 0;
  const frames: FrameSocket = new FrameSocket(socket as unknown as Socket, 100, {
    received: (_head, text) => received(text, frames),
    closed: () => {
      closed++;
    },
  });
  return { receive: (text: string) => socket.emit("data", Buffer.from(text)), closed: () => closed };
}

it("receives nothing after bad input", () => {
  for (const bad of ["no head\n", `[1]\n${"x".repeat(200)}`, "[1]\n~no JSON\n"]) {
    const texts: string[] = [];
    const { receive, closed } = open((text) => texts.push(text));
    receive("[1]\ngood\n");
    receive(bad);
    receive("\n[1]\nlate\n[1]\nlater\n");
    expect(texts).toEqual(["good"]);
    expect(closed()).toBe(1);
  }
});

it("receives nothing after the receiver closed it", () => {
  const texts: string[] = [];
  const { receive } = open((text, frames) => {
    texts.push(text);
    frames.close();
  });
  receive("[1]\none\n[1]\ntwo\n");
  expect(texts).toEqual(["one"]);
});
