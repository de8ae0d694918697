import type { CircuitBreaker, Pass } from "../circuit-breaker.ts";
import {
  type BreakerState,
  type CoordinatorMessage,
  fromSharedFailure,
  type SharedFailure,
  toSharedFailure,
} from "./messages.ts";

interface Member {
  readonly send: (message: CoordinatorMessage) => void;
  readonly gone: AbortController;
  waits: boolean;
  /** The probe this process makes, if any. */
  probe: Pass | undefined;
}

/** Lets the processes of a run share one breaker: what each finds out is known to all, and one of them tries at a time. */
export class BreakerMembers {
  readonly #key: string;
  readonly #breaker: CircuitBreaker;
  readonly #members = new Map<object, Member>();
  #reporter: Member | undefined;
  #news: BreakerState["news"];
  readonly #events = {
    opened: () => {
      this.#news = "opened";
    },
    closed: () => {
      this.#news = "closed";
      for (const member of this.#members.values()) member.probe = undefined;
    },
    changed: () => this.#tellAll(),
  };

  constructor(key: string, breaker: CircuitBreaker) {
    this.#key = key;
    this.#breaker = breaker;
    breaker.subscribe(this.#events);
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  join(id: object, send: Member["send"]): void {
    const member: Member = { send, gone: new AbortController(), waits: false, probe: undefined };
    this.#members.set(id, member);
    if (this.#breaker.downSince !== undefined) member.send(this.#state(undefined));
  }

  leave(id: object): void {
    const member = this.#members.get(id);
    if (!member) return;
    this.#members.delete(id);
    member.gone.abort(new Error("the process is gone"));
    if (member.probe) this.#breaker.ended(member.probe);
    if (this.isEmpty) this.#breaker.unsubscribe(this.#events);
  }

  failed(id: object, isProbe: boolean, failure: SharedFailure): void {
    this.#by(id, (member) => {
      const pass = { probe: isProbe && member.probe !== undefined };
      if (isProbe) member.probe = undefined;
      this.#breaker.failed(pass, fromSharedFailure(failure));
    });
  }

  succeeded(id: object): void {
    this.#by(id, (member) => {
      member.probe = undefined;
      this.#breaker.succeeded();
    });
  }

  ended(id: object): void {
    this.#by(id, (member) => {
      if (!member.probe) return;
      const { probe } = member;
      member.probe = undefined;
      this.#breaker.ended(probe);
    });
  }

  /** Stands in line for the process until it may try, or the endpoint is back. */
  async wait(id: object): Promise<void> {
    const member = this.#members.get(id);
    if (!member || member.waits) return;
    member.waits = true;
    const never = Number.POSITIVE_INFINITY;
    const { signal } = member.gone;
    try {
      const pass = await this.#breaker.pass({ signal, giveUpAt: never, longestOutageMs: never });
      member.waits = false;
      if (!pass?.probe) {
        member.send(this.#state(undefined));
        return;
      }
      if (signal.aborted) {
        this.#breaker.ended(pass);
        return;
      }
      member.probe = pass;
      member.send({ type: "probe", key: this.#key });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  #by(id: object, act: (member: Member) => void): void {
    const member = this.#members.get(id);
    if (!member) return;
    this.#reporter = member;
    act(member);
    this.#reporter = undefined;
  }

  #tellAll(): void {
    for (const member of this.#members.values())
      member.send(this.#state(member === this.#reporter ? this.#news : undefined));
    this.#news = undefined;
  }

  #state(news: BreakerState["news"]): BreakerState {
    const { isOpen, probeAt, downSince, lastFailure } = this.#breaker;
    return {
      type: "breaker",
      key: this.#key,
      isOpen,
      probeAt,
      downSince: downSince ?? null,
      ...(lastFailure && { failure: toSharedFailure(lastFailure) }),
      ...(news && { news }),
    };
  }
}
