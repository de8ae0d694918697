const INITIAL_SLOTS = 1024;
const MAX_LOAD = 0.6;

/**
 * A map from (task index, rollout index) to a number, 20 bytes per slot: a million rollouts use about forty megabytes
 * instead of several hundred for a Map with string keys.
 */
export class RolloutKeyMap {
  private tasks = new Float64Array(INITIAL_SLOTS);
  private rollouts = new Float64Array(INITIAL_SLOTS);
  /** Value plus one; 0 marks a free slot. */
  private values = new Uint32Array(INITIAL_SLOTS);
  private used = 0;

  /** Number of distinct keys. */
  get size(): number {
    return this.used;
  }

  get(task: number, rollout: number): number | undefined {
    const stored = this.values[this.slotOf(task, rollout)] ?? 0;
    return stored === 0 ? undefined : stored - 1;
  }

  has(task: number, rollout: number): boolean {
    return this.values[this.slotOf(task, rollout)] !== 0;
  }

  /** Sets an integer from 0 to 2^32 − 2. */
  set(task: number, rollout: number, value: number): void {
    const slot = this.slotOf(task, rollout);
    if (this.values[slot] === 0) {
      this.tasks[slot] = task;
      this.rollouts[slot] = rollout;
      this.values[slot] = value + 1;
      if (++this.used > this.values.length * MAX_LOAD) this.grow();
    } else this.values[slot] = value + 1;
  }

  /** Every key and its value, in no particular order. */
  *entries(): Generator<[task: number, rollout: number, value: number]> {
    for (let slot = 0; slot < this.values.length; slot++) {
      const stored = this.values[slot] ?? 0;
      if (stored !== 0) yield [this.tasks[slot] ?? 0, this.rollouts[slot] ?? 0, stored - 1];
    }
  }

  /** The slot of the key, or the free slot for it. */
  private slotOf(task: number, rollout: number): number {
    const mask = this.values.length - 1;
    for (let slot = hashOfRollout(task, rollout) & mask; ; slot = (slot + 1) & mask) {
      if (this.values[slot] === 0) return slot;
      if (this.tasks[slot] === task && this.rollouts[slot] === rollout) return slot;
    }
  }

  private grow(): void {
    const { tasks, rollouts, values } = this;
    const slots = values.length * 2;
    this.tasks = new Float64Array(slots);
    this.rollouts = new Float64Array(slots);
    this.values = new Uint32Array(slots);
    for (let old = 0; old < values.length; old++) {
      if (values[old] === 0) continue;
      const slot = this.slotOf(tasks[old] ?? 0, rollouts[old] ?? 0);
      this.tasks[slot] = tasks[old] ?? 0;
      this.rollouts[slot] = rollouts[old] ?? 0;
      this.values[slot] = values[old] ?? 0;
    }
  }
}

/** Hashes task and rollout indices to 32 bits. */
export function hashOfRollout(task: number, rollout: number): number {
  let mixed = Math.imul(task | 0, 0x9e3779b1) ^ Math.imul((task / 0x1_0000_0000) | 0, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d) ^ Math.imul(rollout | 0, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
