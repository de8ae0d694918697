import { describe, expect, it } from "vitest";
import { syscallFilter } from "./syscall-filter.ts";
import { ABSENT, EXAMINED, FORBIDDEN_CALLS } from "./syscalls.ts";

const ARCHITECTURES = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const ALLOW = 0x7fff0000;
const IGNORE = 0x50000;
const EPERM = 0x50001;
const ENOSYS = 0x50026;
const EAFNOSUPPORT = 0x50061;

/** Runs a classic BPF program on one system call, as the kernel does. */
function answer(program: Buffer, call: { arch: number; number: number; args?: readonly number[] }): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number, 0);
  data.writeUInt32LE(call.arch, 4);
  for (const [index, value] of (call.args ?? []).entries()) data.writeUInt32LE(value, 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const code = program.readUInt16LE(at * 8);
    const value = program.readUInt32LE(at * 8 + 4);
    const jump = (holds: boolean) => program.readUInt8(at * 8 + (holds ? 2 : 3));
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x06) return value;
    else if (code === 0x15) at += jump(accumulator === value);
    else if (code === 0x35) at += jump(accumulator >= value);
    else if (code === 0x45) at += jump((accumulator & value) !== 0);
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error("the program ran past its end");
}

describe.each(["x64", "arm64"] as const)("the system call filter of %s", (name) => {
  const program = syscallFilter(name);
  const arch = ARCHITECTURES[name];
  const ask = (number: number, ...args: number[]) => answer(program, { arch, number, args });

  it("rejects every listed call and no other", () => {
    const numbers = (table: Readonly<Record<string, { x64?: number; arm64?: number }>>) =>
      Object.values(table).flatMap((entry) => entry[name] ?? []);
    const forbidden = numbers(FORBIDDEN_CALLS);
    const absent = numbers(ABSENT);
    const examined = numbers(EXAMINED);
    expect(new Set([...forbidden, ...absent, ...examined]).size).toBe(
      forbidden.length + absent.length + examined.length,
    );
    for (let number = 0; number < 512; number++) {
      if (examined.includes(number)) continue;
      const expected = forbidden.includes(number) ? EPERM : absent.includes(number) ? ENOSYS : ALLOW;
      expect(ask(number), `system call ${number}`).toBe(expected);
    }
  });

  it("checks arguments", () => {
    const { socket, clone, ioctl, setsockopt } = EXAMINED;
    for (const family of [1, 2, 10, 16]) expect(ask(socket[name], family)).toBe(ALLOW);
    for (const family of [17, 38, 40]) expect(ask(socket[name], family)).toBe(EAFNOSUPPORT);
    expect(ask(clone[name], 0x01200011)).toBe(ALLOW);
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80])
      expect(ask(clone[name], flag | 17)).toBe(EPERM);
    expect(ask(ioctl[name], 0, 0x5412)).toBe(EPERM);
    expect(ask(ioctl[name], 0, 0x5413)).toBe(ALLOW);
    expect(ask(setsockopt[name], 3, 1, 7)).toBe(IGNORE);
    expect(ask(setsockopt[name], 3, 1, 8)).toBe(ALLOW);
    expect(ask(setsockopt[name], 3, 6, 7)).toBe(ALLOW);
  });

  it("kills a process that uses the calls of another architecture", () => {
    expect(answer(program, { arch: 0x40000003, number: 1 })).toBe(0x80000000);
  });
});

it("rejects the x32 interface and unknown architectures", () => {
  const program = syscallFilter("x64");
  expect(answer(program, { arch: ARCHITECTURES.x64, number: 0x40000000 + 29 })).toBe(ENOSYS);
  expect(() => syscallFilter("s390x")).toThrow(/x64 and arm64 only, not for s390x/);
});
