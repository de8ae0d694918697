import { laxFloat, laxInt } from "nemo-gym/openai";
import { formatValue, PyFloat } from "nemo-gym/python";
import { z } from "zod";
import type { SubjectName } from "./laws.ts";

export const SYSTEMS = ["vanilla_equation", "simple_system", "complex_system"] as const;
export type System = (typeof SYSTEMS)[number];

/** Number of points of a series, unless the model asks for another one. */
const SERIES = 20;
const MAX_POINTS = 1000;
const SPEED_OF_LIGHT = 3e8;

export type Measured = number | { [name: string]: number | string | string[] | string[][] };
export type LawFunction = (...given: number[]) => number;
/** What an instrument shows for a value, with the smallest deviation that its noise has. */
export interface Instrument {
  (value: number, precision?: number): number;
  /** A random number of the experiment in [0, 1). */
  random(): number;
}

interface Experiment<Given> {
  /** The arguments of the tool. */
  input: z.ZodType<Given>;
  /** The arguments of the law in `vanilla_equation`. */
  plain(given: Given): number[];
  /** The precision of the instrument there. */
  precision: number;
  simple_system(given: Given, law: LawFunction, measure: Instrument): Measured;
  complex_system(given: Given, law: LawFunction, measure: Instrument): Measured;
}

const define = <Given>(experiment: Experiment<Given>): Experiment<unknown> =>
  experiment as Experiment<unknown>;

const needed = laxFloat();
/** A missing parameter and null take the default of the experiment. */
const optional = (otherwise: number) =>
  laxFloat()
    .nullish()
    .transform((value) => value ?? otherwise);
const num_points = laxInt()
  .pipe(z.number().min(2).max(MAX_POINTS))
  .nullish()
  .transform((value) => value ?? SERIES);

const shown = (value: number, digits = 6) => formatValue(new PyFloat(value), `.${digits}e`);
const series = (values: readonly number[], digits?: number) => values.map((value) => shown(value, digits));
const measured = (values: readonly number[], measure: Instrument, precision?: number) =>
  series(values.map((value) => measure(value, precision)));
/** Evenly spaced values from 0 to `end`. */
const spaced = (end: number, count: number) =>
  Array.from({ length: count }, (_, index) => (end * index) / (count - 1));
/** The times of a simulation. Of a long one the first points are reported, so no more are computed. */
function timesOf(duration: number, step: number): number[] {
  const count = Math.trunc(duration / step);
  if (Number.isNaN(count)) throw new RangeError("duration and time_step must not both be 0");
  return Array.from({ length: Math.min(Math.max(count, 0), SERIES) }, (_, index) => index * step);
}

type Vector = readonly [number, number];
interface Motion {
  position: Vector;
  velocity: Vector;
}

/** The states at `times` of a body with this acceleration (velocity Verlet). */
function motion(
  start: Motion,
  times: readonly number[],
  step: number,
  acceleration: (position: Vector, time: number) => Vector,
): Motion[] {
  const states: Motion[] = [];
  let state = start;
  for (const [index, time] of times.entries()) {
    if (index > 0) {
      const before = times[index - 1] ?? time;
      const [ax, ay] = acceleration(state.position, before);
      const [x, y] = state.position;
      const [vx, vy] = state.velocity;
      const position = [x + vx * step + 0.5 * ax * step ** 2, y + vy * step + 0.5 * ay * step ** 2] as const;
      const [bx, by] = acceleration(position, before);
      state = { position, velocity: [vx + 0.5 * (ax + bx) * step, vy + 0.5 * (ay + by) * step] };
    }
    states.push(state);
  }
  return states;
}

const onLine = (position: number, velocity: number): Motion => ({
  position: [position, 0],
  velocity: [velocity, 0],
});

const bodies = {
  mass1: needed,
  mass2: needed,
  distance: needed,
  initial_velocity: optional(0),
};
const gravity = define({
  input: z.object({
    ...bodies,
    duration: laxFloat().nullish(),
    time_step: laxFloat().nullish(),
  }),
  plain: ({ mass1, mass2, distance }) => [mass1, mass2, distance],
  precision: 1e-12,
  /** A body that falls on a line towards a fixed one. */
  simple_system({ mass1, mass2, distance, initial_velocity, duration, time_step }, law, measure) {
    const step = time_step ?? 0.01;
    const times = timesOf(duration ?? 5, step);
    const states = motion(onLine(distance, initial_velocity), times, step, ([x]) => [
      (-law(mass1, mass2, Math.abs(x)) * Math.sign(x)) / mass2,
      0,
    ]);
    return {
      time: series(times, 3),
      position: measured(
        states.map(({ position: [x] }) => x),
        measure,
      ),
      velocity: measured(
        states.map(({ velocity: [x] }) => x),
        measure,
      ),
    };
  },
  /** A body that moves around a fixed one. */
  complex_system({ mass1, mass2, distance, initial_velocity, duration, time_step }, law, measure) {
    const step = time_step ?? 0.1;
    const times = timesOf(duration ?? 10, step);
    const start: Motion = { position: [distance, 0], velocity: [0, initial_velocity] };
    const states = motion(start, times, step, ([x, y]) => {
      const radius = Math.hypot(x, y);
      if (radius === 0) return [0, 0];
      const force = -law(mass1, mass2, radius) / mass2;
      return [(force * x) / radius, (force * y) / radius];
    });
    const pairs = (vectors: Vector[]) => vectors.map((vector) => measured(vector, measure));
    return {
      time: series(times, 3),
      position: pairs(states.map(({ position }) => position)),
      velocity: pairs(states.map(({ velocity }) => velocity)),
    };
  },
});

interface Charges {
  q1: number;
  q2: number;
  distance: number;
  m2: number;
  duration?: number | null;
  time_step?: number | null;
}
/** The velocities of the second charge, while both charges decay. */
function driftOf(
  { q1, q2, distance, m2 }: Charges,
  times: number[],
  step: number,
  law: LawFunction,
): number[] {
  let [position, velocity] = [distance, 0];
  return times.map((time, index) => {
    if (index === 0) return velocity;
    const [one, two] = [q1 * Math.exp(-time / 10), q2 * Math.exp(-time / 5)];
    const force = law(Math.abs(one), Math.abs(two), Math.abs(position)) * (one * two > 0 ? 1 : -1);
    velocity += (force / m2) * step;
    position += velocity * step;
    return velocity;
  });
}
const charges = define({
  input: z.object({
    q1: needed,
    q2: needed,
    distance: needed,
    m1: optional(1),
    m2: optional(1),
    duration: laxFloat().nullish(),
    time_step: laxFloat().nullish(),
  }),
  plain: ({ q1, q2, distance }) => [q1, q2, distance],
  precision: 1e-12,
  simple_system(given, law, measure) {
    const step = given.time_step ?? 0.01;
    const times = timesOf(given.duration ?? 5, step);
    return { time: series(times, 3), velocity: measured(driftOf(given, times, step, law), measure) };
  },
  complex_system(given, law, measure) {
    const step = given.time_step ?? 0.1;
    const times = timesOf(given.duration ?? 10, step);
    const energies = driftOf(given, times, step, law).map((velocity) => 0.5 * given.m2 * velocity ** 2);
    return { time: series(times, 3), kinetic_energy: measured(energies, measure) };
  },
});

/** The acceleration of the second wire: wires with currents of one direction attract each other. */
function pullOf(current1: number, current2: number, mass: number, law: LawFunction) {
  return ([x]: Vector): Vector => {
    if (mass === 0 || x === 0) return [0, 0];
    const force = law(Math.abs(current1), Math.abs(current2), Math.abs(x));
    return [(Math.sign(current1) === Math.sign(current2) ? -force : force) / mass, 0];
  };
}
function wireReport(times: number[], states: Motion[], measure: Instrument, digits?: number): Measured {
  return {
    time: series(times, digits),
    position: measured(
      states.map(({ position: [x] }) => x),
      measure,
    ),
    velocity: measured(
      states.map(({ velocity: [x] }) => x),
      measure,
    ),
  };
}
const wires = define({
  input: z.object({
    current1: needed,
    current2: needed,
    distance: needed,
    mass_wire: laxFloat().nullish(),
    initial_velocity: optional(0),
    duration: optional(1),
    time_step: optional(0.05),
  }),
  plain: ({ current1, current2, distance }) => [current1, current2, distance].map(Math.abs),
  precision: 1e-12,
  simple_system(
    { current1, current2, distance, mass_wire, initial_velocity, duration, time_step },
    law,
    measure,
  ) {
    const times = timesOf(duration, time_step);
    const pull = pullOf(current1, current2, mass_wire ?? 1, law);
    const states = motion(onLine(distance, initial_velocity), times, time_step, pull);
    return wireReport(times, states, measure, 3);
  },
  /** One period of an alternating current of 50 Hz in the first wire. */
  complex_system({ current1, current2, distance, mass_wire, initial_velocity }, law, measure) {
    const period = 1 / 50;
    const times = spaced(period, SERIES);
    const pull = (position: Vector, time: number) =>
      pullOf(current1 * Math.sin((2 * Math.PI * time) / period), current2, mass_wire ?? 0.01, law)(position);
    const states = motion(onLine(distance, initial_velocity), times, period / (SERIES - 1), pull);
    return wireReport(times, states, measure);
  },
});

const conduction = define({
  input: z.object({ k: needed, A: needed, delta_T: needed, d: needed, num_points }),
  plain: ({ k, A, delta_T, d }) => [k, A, delta_T, d],
  precision: 1e-9,
  simple_system({ k, A, delta_T, d, num_points: count }, law, measure) {
    const power = law(k, A, delta_T, d);
    const x = spaced(d, count);
    const temperatures = x.map((place) => delta_T - (power / (k * A)) * place);
    return { x: series(x), T: measured(temperatures, measure) };
  },
  complex_system({ k, A, delta_T, d, num_points: count }, law, measure) {
    const power = law(k, A, delta_T, d);
    const x = spaced(d, count);
    const temperature = (place: number) => delta_T * Math.exp((-place * power) / (k * A * delta_T));
    const flux = x.map((_, index) => {
      const [from, to] = [Math.max(index - 1, 0), Math.min(index + 1, count - 1)];
      const [start, end] = [x[from] ?? 0, x[to] ?? 0];
      return (-k * (temperature(end) - temperature(start))) / (end - start);
    });
    return { x: series(x), heat_flux: measured(flux, measure) };
  },
});

/** An angle of incidence in degrees, from 0 to 90. */
function incidence(angle: number): number {
  const turned = ((angle % 180) + 180) % 180;
  return turned > 90 ? 180 - turned : turned;
}
const angleText = (angle: number, measure: Instrument) =>
  Number.isFinite(angle) ? shown(measure(angle, 1e-6)) : "invalid";
const refraction = define({
  input: z.object({
    refractive_index_1: laxFloat().nullish(),
    refractive_index_2: laxFloat().nullish(),
    incidence_angle: needed,
    refractive_index_3: optional(1.33),
    speed_medium1: optional(SPEED_OF_LIGHT),
    speed_medium2: optional(2e8),
  }),
  plain: ({ refractive_index_1: n1, refractive_index_2: n2, incidence_angle }) => [
    n1 ?? 1.1,
    n2 ?? 1.2,
    incidence(incidence_angle),
  ],
  precision: 1e-6,
  simple_system({ speed_medium1, speed_medium2, incidence_angle }, law, measure) {
    const angle = law(
      SPEED_OF_LIGHT / speed_medium1,
      SPEED_OF_LIGHT / speed_medium2,
      incidence(incidence_angle),
    );
    return { refraction_angle: angleText(angle, measure) };
  },
  /** Through three layers. */
  complex_system(given, law, measure) {
    const [n1, n2] = [given.refractive_index_1 ?? 1, given.refractive_index_2 ?? 1.5];
    const angle = law(n1, n2, incidence(given.incidence_angle));
    return { final_refraction_angle: angleText(law(n2, given.refractive_index_3, angle), measure) };
  },
});

const decay = define({
  input: z.object({
    N0: optional(1),
    lambda_constant: optional(1),
    t: needed,
    N0a: optional(1),
    N0b: optional(1),
    lambda_a: optional(1),
    lambda_b: optional(1),
    num_points,
  }),
  plain: ({ N0, lambda_constant, t }) => [N0, lambda_constant, t],
  precision: 1e-9,
  /** A detector that sees 70 % of the atoms. */
  simple_system({ N0, lambda_constant, t, num_points: count }, law, measure) {
    const times = spaced(t, count);
    const activity = times.map((time) => 0.7 * law(N0, lambda_constant, time));
    return { time: series(times), measured_activity: measured(activity, measure) };
  },
  complex_system({ N0a, N0b, lambda_a, lambda_b, t, num_points: count }, law, measure) {
    const times = spaced(t, count);
    const ratios = times.map((time) => {
      const other = law(N0b, lambda_b, time);
      const ratio = Math.abs(other) < 1e-10 ? Number.NaN : law(N0a, lambda_a, time) / other;
      return Number.isFinite(ratio) ? ratio : Number.NaN;
    });
    return { time: series(times), ratio: measured(ratios, measure, 1e-12) };
  },
});

const oscillator = define({
  input: z.object({
    k_constant: needed,
    mass: needed,
    b_constant: needed,
    initial_amplitude: optional(1),
  }),
  plain: ({ k_constant, mass, b_constant }) => [k_constant, mass, b_constant],
  precision: 1e-9,
  simple_system({ k_constant, mass, b_constant }, law, measure) {
    const omega = law(k_constant, mass, b_constant);
    const isValid = Number.isFinite(omega) && omega !== 0;
    return { period: isValid ? shown(measure((2 * Math.PI) / omega)) : "invalid" };
  },
  /** Two periods of the damped motion. */
  complex_system({ k_constant, mass, b_constant, initial_amplitude }, law, measure) {
    const omega = law(k_constant, mass, b_constant);
    if (!Number.isFinite(omega) || omega === 0) return { time: [], amplitude: [] };
    const times = spaced((4 * Math.PI) / omega, SERIES);
    const amplitudes = times.map((time) => initial_amplitude * Math.exp(-3 * time) * Math.cos(omega * time));
    return { time: series(times), amplitude: measured(amplitudes, measure) };
  },
});

const isPolarizer = (intensity: number, theta: number) => intensity > 0 && theta > 0 && theta <= Math.PI / 2;
const polarizer = define({
  input: z.object({ I_0: needed, theta: needed }),
  plain: ({ I_0, theta }) => [I_0, theta],
  precision: 1e-9,
  simple_system: ({ I_0, theta }, law, measure) =>
    isPolarizer(I_0, theta) ? measure(law(I_0, theta) / I_0, 1e-12) : Number.NaN,
  /** The loss through two polarizers. */
  complex_system: ({ I_0, theta }, law, measure) =>
    isPolarizer(I_0, theta) ? measure(law(law(I_0, theta), theta) - I_0) : Number.NaN,
});

const sound = define({
  input: z.object({
    adiabatic_index: needed,
    temperature: needed,
    molar_mass: needed,
    distance: optional(100),
    driving_frequency: optional(440),
    tube_diameter: optional(0.1),
  }),
  plain: ({ adiabatic_index, temperature, molar_mass }) => [adiabatic_index, temperature, molar_mass],
  precision: 1e-9,
  /** An echo. */
  simple_system({ adiabatic_index, temperature, molar_mass, distance }, law, measure) {
    const speed = law(adiabatic_index, temperature, molar_mass);
    return { time: speed > 0 ? shown(measure((2 * distance) / speed)) : "invalid" };
  },
  /** The first two lengths of a tube that resonate. */
  complex_system(given, law, measure) {
    const { adiabatic_index, temperature, molar_mass, driving_frequency, tube_diameter } = given;
    const speed = law(adiabatic_index, temperature, molar_mass);
    const length = (quarters: number) => {
      if (!(speed > 0)) return "invalid";
      if (driving_frequency <= 0) return shown(Number.NaN);
      const inside = (quarters * speed) / driving_frequency / 4 - 0.3 * tube_diameter;
      return shown(measure(Math.max(inside, 0)));
    };
    return { first_resonance_length: length(1), second_resonance_length: length(3) };
  },
});

const spring = define({
  input: z.object({ x: needed, m: optional(1) }),
  plain: ({ x }) => [x],
  precision: 1e-9,
  /** The kinetic energy, with what the air adds to it in this universe. */
  simple_system({ x, m }, law, measure) {
    if (m <= 0) return Number.NaN;
    const energy = law(x);
    return measure(energy + (0.2 * x * 2 * energy) / m);
  },
  /** The highest velocity, less what the spring loses. */
  complex_system: ({ x, m }, law, measure) => measure(Math.exp(-x / 0.02) * Math.sqrt((2 * law(x)) / m)),
});

/** Points and weights of the integration over one panel (Gauss and Legendre, five points). */
const PANEL = [
  [0, 128 / 225],
  ...[-1, 1].flatMap((sign) => [
    [(sign * Math.sqrt(5 - 2 * Math.sqrt(10 / 7))) / 3, (322 + 13 * Math.sqrt(70)) / 900],
    [(sign * Math.sqrt(5 + 2 * Math.sqrt(10 / 7))) / 3, (322 - 13 * Math.sqrt(70)) / 900],
  ]),
] as [number, number][];
const PANELS = 200;

function integral(f: (x: number) => number, from: number, to: number): number {
  const half = (to - from) / PANELS / 2;
  let sum = 0;
  for (let panel = 0; panel < PANELS; panel++) {
    const middle = from + (2 * panel + 1) * half;
    for (const [place, weight] of PANEL) sum += weight * f(middle + place * half);
  }
  return sum * half;
}
const radiation = define({
  input: z.object({
    omega: optional(1e8),
    temperature: needed,
    probe_frequency: optional(1e8),
    center_frequency: optional(1e9),
    bandwidth: optional(10),
  }),
  plain: ({ omega, temperature }) => [omega, temperature],
  precision: 1e-18,
  simple_system({ temperature, probe_frequency }, law, measure) {
    const radiance = law(probe_frequency, temperature) * probe_frequency ** 3;
    return { spectral_radiance: shown(measure(radiance, 1e-12), 12) };
  },
  /** The power in a band of frequencies. */
  complex_system({ temperature, center_frequency, bandwidth }, law, measure) {
    const radiance = (omega: number) => law(omega, temperature) * omega ** 3;
    const power = integral(radiance, center_frequency - bandwidth / 2, center_frequency + bandwidth / 2);
    return { total_power: shown(measure(power, 1e-12)) };
  },
});

const between = (low: number, high: number, { random }: Instrument) => low + random() * (high - low);
/** The power of a transfer that takes m c / 100 seconds, without the fifth that is lost. */
const powerOf = (heat: number, m: number, c: number, measure: Instrument) =>
  (heat / ((m * c) / 100)) * (1 - between(0.18, 0.22, measure));
const heating = define({
  input: z.object({ m: needed, c: needed, delta_T: needed }),
  plain: ({ m, c, delta_T }) => [m, c, delta_T],
  precision: 1e-9,
  /** How conduction, convection and radiation share the power, which differs each time. */
  simple_system({ m, c, delta_T }, law, measure) {
    const power = powerOf(law(m, c, delta_T), m, c, measure);
    const share = () => between(0.1, 0.8, measure);
    const [conduction, convection, emission] = [share(), share(), share()];
    const part = (one: number) => measure((one / (conduction + convection + emission)) * power);
    return { P_cond: part(conduction), P_conv: part(convection), P_rad: part(emission) };
  },
  /** The light bulbs of 1 W that the difference between two substances can power. */
  complex_system({ m, c, delta_T }, law, measure) {
    const difference = Math.abs(law(m, c, delta_T) - law(m, c * between(0.7, 1.2, measure), delta_T));
    const power = powerOf(difference, m, c, measure);
    return Number.isNaN(power) ? 0 : Math.trunc(measure(power));
  },
});

/** The experiments by subject. */
export const EXPERIMENTS: Readonly<Record<SubjectName, Experiment<unknown>>> = {
  m0_gravity: gravity,
  m1_coulomb_force: charges,
  m2_magnetic_force: wires,
  m3_fourier_law: conduction,
  m4_snell_law: refraction,
  m5_radioactive_decay: decay,
  m6_underdamped_harmonic: oscillator,
  m7_malus_law: polarizer,
  m8_sound_speed: sound,
  m9_hooke_law: spring,
  m10_be_distribution: radiation,
  m11_heat_transfer: heating,
};

/** An instrument whose noise is relative to the value; `level` 0 is exact. */
export function instrument(level: number, random: () => number): Instrument {
  const measure = (value: number, precision = 1e-9) => {
    if (level === 0) return value;
    const deviation = Math.max(Math.abs(value * level), precision);
    // Two uniform numbers make a normal one (Box and Muller).
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return value + deviation * normal;
  };
  return Object.assign(measure, { random });
}

/** A result as JSON can hold it: null for a number that is not finite. */
export function reportable(result: Measured): Measured | null {
  if (typeof result === "number") return Number.isFinite(result) ? result : null;
  const entries = Object.entries(result).map(([name, value]) => [
    name,
    typeof value === "number" ? reportable(value) : value,
  ]);
  return Object.fromEntries(entries) as Measured;
}
