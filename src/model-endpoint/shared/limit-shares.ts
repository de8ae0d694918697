import type { AdaptiveLimit } from "../adaptive-limit.ts";
import { type Allowance, fromSharedFailure, type LimitReport, toSharedFailure } from "./messages.ts";

/** What a process is given before it has asked, as a part of all places. */
const FIRST_PART = 1 / 8;

type Send = (message: Allowance) => void;

interface Share {
  readonly send: Send;
  running: number;
  waiting: number;
  /** Places it has been given, and the most it may still think it has. */
  places: number;
  ceiling: number;
  serial: number;
  told: string;
}

/**
 * Divides the places of one limit among the processes of a run. Each has some that it fills without asking; whoever needs more
 * gets what others do not use. A place is given again only when its holder is known to have let it go.
 */
export class LimitShares {
  readonly #key: string;
  readonly #limit: AdaptiveLimit;
  readonly #shares = new Map<object, Share>();
  #lastProbe: object | undefined;
  #busy = false;
  readonly #onChange = () => this.#divide();

  constructor(key: string, limit: AdaptiveLimit) {
    this.#key = key;
    this.#limit = limit;
    limit.subscribe(this.#onChange);
  }

  get isEmpty(): boolean {
    return this.#shares.size === 0;
  }

  join(member: object, send: Send): void {
    const share: Share = { send, running: 0, waiting: 0, places: 0, ceiling: 0, serial: 0, told: "" };
    this.#shares.set(member, share);
    if (!this.#limit.isProbing)
      this.#give(share, Math.min(Math.floor(this.#limit.allowed * FIRST_PART), this.#free()));
    this.#reserve();
    this.#tell(share, true);
  }

  /** The process is gone, and with it what it had under way. */
  leave(member: object): void {
    const share = this.#shares.get(member);
    if (!share) return;
    this.#shares.delete(member);
    this.#endOthers(share.running);
    if (this.isEmpty) {
      this.#limit.unsubscribe(this.#onChange);
      this.#limit.reserve(0, 0);
    } else this.#divide();
  }

  report(member: object, report: LimitReport): void {
    const share = this.#shares.get(member);
    if (!share) return;
    // One division for the whole report, not one for each call in it.
    this.#busy = true;
    this.#limit.occupy(report.started);
    for (const [startedAt, outputTokens] of report.succeeded)
      this.#limit.leave({ startedAt, among: 1 }, { kind: "success", outputTokens });
    for (const { startedAt, pauseMs, failure } of report.refused)
      this.#limit.leave(
        { startedAt, among: 1 },
        { kind: "rate-limited", pauseMs, ...(failure && { failure: fromSharedFailure(failure) }) },
      );
    this.#endOthers(report.others);
    this.#busy = false;
    share.running = report.running;
    share.waiting = report.waiting;
    if (report.seen === share.serial) share.ceiling = share.places;
    this.#divide();
    this.#tell(share, report.ask);
  }

  #endOthers(count: number): void {
    for (let index = 0; index < count; index++)
      this.#limit.leave({ startedAt: 0, among: 1 }, { kind: "other" });
  }

  #divide(): void {
    if (this.#busy) return;
    const { allowed, isProbing } = this.#limit;
    const all = [...this.#shares.values()];
    const needy = all.some(({ running, waiting, places }) => running + waiting > places);
    const given = all.reduce((sum, { places }) => sum + places, 0);
    if (needy || given > allowed || (this.#limit.waiting > 0 && given > 0)) {
      const targets = isProbing ? this.#probeTargets(all, allowed) : fairParts(this.#needs(all), allowed);
      // What is taken from some is given to others when they have let it go.
      for (const [index, share] of all.entries())
        this.#give(share, Math.min(share.places, targets[index] ?? 0));
      for (const [index, share] of all.entries())
        this.#give(share, Math.min(targets[index] ?? 0, share.places + this.#free()));
    }
    this.#reserve();
    for (const share of all) this.#tell(share, false);
  }

  /** What each wants; the last is this process. */
  #needs(all: readonly Share[]): number[] {
    const elsewhere = all.reduce((sum, { running }) => sum + running, 0);
    const here = this.#limit.running - elsewhere + this.#limit.waiting;
    return [...all.map(({ running, waiting }) => running + waiting), Math.max(0, here)];
  }

  /** One place for everybody: those who wait take turns. */
  #probeTargets(all: readonly Share[], allowed: number): number[] {
    if (allowed === 0) return all.map(() => 0);
    const holder = all.findIndex(({ places, running, waiting }) => places > 0 && running + waiting > 0);
    if (holder >= 0) return all.map((_, index) => (index === holder ? 1 : 0));
    if (this.#limit.running > 0) return all.map(() => 0);
    const members = [...this.#shares.keys()];
    const after = this.#lastProbe === undefined ? 0 : members.indexOf(this.#lastProbe) + 1;
    for (let offset = 0; offset < members.length; offset++) {
      const index = (after + offset) % members.length;
      if ((all[index]?.waiting ?? 0) === 0) continue;
      this.#lastProbe = members[index];
      return all.map((_, each) => (each === index ? 1 : 0));
    }
    return all.map(() => 0);
  }

  #give(share: Share, places: number): void {
    if (places === share.places) return;
    share.places = places;
    share.ceiling = Math.max(share.ceiling, places);
    share.serial++;
  }

  #free(): number {
    const { running, allowed } = this.#limit;
    return Math.max(0, allowed - running - this.#unused());
  }

  /** Places that are given and not, or not known to be, in use. */
  #unused(): number {
    let unused = 0;
    for (const { ceiling, running } of this.#shares.values()) unused += Math.max(0, ceiling - running);
    return unused;
  }

  #reserve(): void {
    this.#busy = true;
    let waiting = 0;
    for (const share of this.#shares.values()) waiting += share.waiting;
    this.#limit.reserve(this.#unused(), waiting);
    this.#busy = false;
  }

  #tell(share: Share, always: boolean): void {
    const { limit, pausedUntil, isProbing, lastRefusal } = this.#limit;
    const waiting = this.#limit.waiting > 0 || [...this.#shares.values()].some((each) => each.waiting > 0);
    const prompt = isProbing || waiting;
    const told = `${share.serial} ${prompt} ${pausedUntil}`;
    if (!always && told === share.told) return;
    share.told = told;
    share.send({
      type: "allowance",
      key: this.#key,
      serial: share.serial,
      places: share.places,
      limit,
      pausedUntil,
      prompt,
      ...(lastRefusal && { refusal: toSharedFailure(lastRefusal) }),
    });
  }
}

/** Divides places by need: small needs are met, large ones get equal parts, and what is left over is spread evenly. */
export function fairParts(needs: readonly number[], places: number): number[] {
  const parts = needs.map(() => 0);
  let left = places;
  let open = needs.map((_, index) => index);
  while (open.length > 0 && left > 0) {
    const part = Math.floor(left / open.length);
    const small = open.filter((index) => (needs[index] ?? 0) <= part);
    if (small.length === 0) {
      for (const [order, index] of open.entries()) parts[index] = part + (order < left % open.length ? 1 : 0);
      return parts;
    }
    for (const index of small) {
      parts[index] = needs[index] ?? 0;
      left -= needs[index] ?? 0;
    }
    open = open.filter((index) => !small.includes(index));
  }
  const spare = Math.floor(left / needs.length);
  return parts.map((part) => part + spare);
}
