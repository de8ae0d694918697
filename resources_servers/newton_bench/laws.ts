import { compileFormula, type Values } from "./formula.ts";

export const DIFFICULTIES = ["easy", "medium", "hard"] as const;
export const VERSIONS = ["v0", "v1", "v2"] as const;
export type Difficulty = (typeof DIFFICULTIES)[number];
export type Version = (typeof VERSIONS)[number];

interface Subject {
  /** The parameters of the law in order: what they are, and the range of the values that a law is tested with. */
  parameters: Readonly<Record<string, { is: string; from: number; to: number; scale?: "linear" }>>;
  constants?: Values;
  /** The law is 0 if one of these is not positive. */
  zeroUnlessPositive?: readonly string[];
  /** The law is 0 if one of these is 0. */
  zeroIfZero?: readonly string[];
  /** The law has no value where one of these is negative. */
  undefinedIfNegative?: readonly string[];
  /** The law has no value where its formula is not positive. */
  positiveOnly?: boolean;
  /** By difficulty, the formulas of v0, v1 and v2. */
  laws: Readonly<Record<Difficulty, readonly [string, string, string]>>;
}

const WIRE = { from: 1e-3, to: 1e-1 };
const CHARGE = { from: 1e-1, to: 1e1 };

/** The subjects and changed laws of physics of NewtonBench. */
export const SUBJECTS = {
  m0_gravity: {
    parameters: {
      mass1: { is: "mass of the first body", from: 1, to: 1e3 },
      mass2: { is: "mass of the second body", from: 1, to: 1e3 },
      distance: { is: "distance between the bodies", from: 1, to: 1e1 },
    },
    constants: { C: 6.674e-5 },
    zeroUnlessPositive: ["mass1", "mass2", "distance"],
    laws: {
      easy: [
        "C * mass1 * mass2 / distance ** 1.5",
        "C * mass1 / distance ** 2",
        "C * (mass1 ** 2 * mass2 ** 2) / distance ** 2",
      ],
      medium: [
        "C * (mass1 * mass2) ** 2 / distance ** 1.5",
        "C * mass1 / distance ** 2.6",
        "C * (mass1 ** 2 * mass2 ** 2) * distance ** 2",
      ],
      hard: [
        "C * (mass1 + mass2) ** 2 / distance ** 1.5",
        "C * mass1 ** 1.3 / distance ** 2.6",
        "C * (mass1 ** 2 + mass2 ** 2) * distance ** 2",
      ],
    },
  },
  m1_coulomb_force: {
    parameters: {
      q1: { is: "first charge", ...CHARGE },
      q2: { is: "second charge", ...CHARGE },
      distance: { is: "distance between the charges", ...CHARGE },
    },
    constants: { C: 2 },
    zeroUnlessPositive: ["distance"],
    zeroIfZero: ["q1", "q2"],
    laws: {
      easy: [
        "C * q1 * q2 / distance ** 3",
        "C * (q1 * q2) ** 3 / distance ** 2",
        "C * q1 ** 3 * q2 / distance ** 2",
      ],
      medium: [
        "C * (q1 * q2) * (q1 + q2) / distance ** 2",
        "C * (q1 + q2) ** 3 / distance ** 2",
        "C * q1 ** 3 * q2 ** 2 / distance ** 2.5",
      ],
      hard: [
        "C * (q1 * q2) * (q1 + q2) / distance ** e",
        "C * q2 ** 2 * (q1 + q2) ** 3 / distance ** 2",
        "C * q1 ** 3 * q2 ** 2 / distance ** e",
      ],
    },
  },
  m2_magnetic_force: {
    parameters: {
      current1: { is: "current in the first wire", ...WIRE },
      current2: { is: "current in the second wire", ...WIRE },
      distance: { is: "distance between the wires", ...WIRE },
    },
    constants: { C: 4.78e-2 },
    zeroUnlessPositive: ["distance"],
    zeroIfZero: ["current1", "current2"],
    laws: {
      easy: [
        "C * current1 * current2 / distance ** 3",
        "C * (current1 * current2) ** 2 / distance",
        "C * current2 / distance",
      ],
      medium: [
        "C * (current1 * current2) ** 1.5 / distance ** 3",
        "C * (current1 * current2) ** 2 * distance",
        "C * current2 / distance ** 3.8",
      ],
      hard: [
        "C * (current1 + current2) ** 1.5 / distance ** 3",
        "C * (current1 - current2) ** 2 * distance",
        "C * current2 ** 0.9 / distance ** 3.8",
      ],
    },
  },
  m3_fourier_law: {
    parameters: {
      k: { is: "a constant of the material", from: 1e-1, to: 1e1 },
      A: { is: "area of the cross-section", from: 1e-4, to: 1e-2 },
      delta_T: { is: "difference in temperature", from: 1e1, to: 1e3 },
      d: { is: "thickness of the material", from: 1e-2, to: 1 },
    },
    zeroUnlessPositive: ["delta_T", "d"],
    laws: {
      easy: ["k * A * delta_T / d ** 2", "k * A ** 0.5 * delta_T / d", "k * A * delta_T ** 2 / d"],
      medium: [
        "k * A ** 0.5 * delta_T / d ** 2",
        "k * A ** 0.5 * delta_T ** 2.7 / d",
        "k * delta_T ** 2 / (d * A ** 3.4)",
      ],
      hard: [
        "k * A ** 0.5 * delta_T ** 1.3 / d ** 2",
        "k * A ** 0.5 * delta_T ** 2.7 / d ** (3 / 7)",
        "k * delta_T ** 2 / (sqrt(d) * A ** 3.4)",
      ],
    },
  },
  m4_snell_law: {
    parameters: {
      n1: { is: "refractive index of the first medium", from: 1, to: 1.5, scale: "linear" },
      n2: { is: "refractive index of the second medium", from: 1, to: 1.5, scale: "linear" },
      angle1: { is: "angle of incidence in degrees", from: 0, to: 90, scale: "linear" },
    },
    laws: {
      easy: [
        "acosd(n1 * sind(angle1) / n2)",
        "asind(n2 * sind(angle1) / n1)",
        "atand(n1 * sind(angle1) / n2)",
      ],
      medium: [
        "acosd(n1 * cosd(angle1) / n2)",
        "acosd(n2 * sind(angle1) / n1)",
        "atand(n1 * tand(angle1) / n2)",
      ],
      hard: [
        "acosd(n1 ** 2 * cosd(angle1) / n2)",
        "acosd(n2 * sind(angle1) / n1 ** 2.5)",
        "atand((n1 / n2) ** 2 * tand(angle1))",
      ],
    },
  },
  m5_radioactive_decay: {
    parameters: {
      N0: { is: "number of atoms at the beginning", from: 1, to: 1e2 },
      lambda_constant: { is: "a constant of the isotope", from: 1e-3, to: 1e-1 },
      t: { is: "time since the beginning", from: 1e-2, to: 1e1 },
    },
    laws: {
      easy: [
        "N0 * exp(-lambda_constant * t ** 1.5)",
        "N0 * exp(-lambda_constant ** 1.5 * t)",
        "N0 * exp(-(lambda_constant * t) ** 1.5)",
      ],
      medium: [
        "N0 ** 1.2 * exp(-lambda_constant * t ** 1.5)",
        "N0 ** 1.4 * exp(-lambda_constant ** 1.5 * t)",
        "N0 ** 1.8 * exp(-(lambda_constant * t) ** 1.5)",
      ],
      hard: [
        "N0 ** 1.2 * exp(-lambda_constant ** e * t ** 1.5)",
        "N0 ** 1.4 * exp(-lambda_constant ** 1.5 * t ** e)",
        "N0 ** 1.8 * exp(-(lambda_constant * t) ** (e + 1.5))",
      ],
    },
  },
  m6_underdamped_harmonic: {
    parameters: {
      k: { is: "a constant of the spring", from: 1e2, to: 1e4 },
      m: { is: "mass of the body", from: 1e-1, to: 1e1 },
      b: { is: "a constant of the damping", from: 1e-2, to: 1 },
    },
    laws: {
      easy: ["sqrt(k / m - b / (2 * m))", "(k / m - (b / (2 * m)) ** 2) ** 2", "k / m - (b / (2 * m)) ** 2"],
      medium: [
        "sqrt(k / m - b / (2 * m ** 2))",
        "(k / m ** 2 - (b / (2 * m)) ** 2) ** 2",
        "k / m ** 1.3 - (b / (2 * m)) ** 2",
      ],
      hard: [
        "(k / m - b / (2 * m ** 2)) ** 1.5",
        "(k * m ** 2 - (b / (2 * m)) ** 2) ** 2",
        "k / m ** 1.3 - (b / (2 * m)) ** 0.7",
      ],
    },
  },
  m7_malus_law: {
    parameters: {
      I_0: { is: "intensity of the light before the polarizer", from: 100, to: 2000 },
      theta: {
        is: "angle between the polarizer and the light in radians, from 0 to pi / 2",
        from: 1e-6,
        to: Math.PI / 2,
        scale: "linear",
      },
    },
    laws: {
      easy: [
        "I_0 * (sin(theta) + cos(theta)) ** 2",
        "I_0 * (sin(theta) / cos(theta)) ** 2",
        "I_0 * (cos(theta) / sin(theta)) ** 2",
      ],
      medium: [
        "I_0 * (2 * sin(theta) + cos(theta)) ** 2",
        "I_0 * sin(theta) ** 2 / cos(theta) ** 3",
        "I_0 * (cos(theta) / sin(theta)) ** e",
      ],
      hard: [
        "I_0 * (2 * sin(theta) + 1.5 * cos(theta)) ** 2",
        "I_0 * (sin(theta) ** 2 / cos(theta) ** 3) ** e",
        "I_0 * (sin(theta) ** 2 / cos(theta)) ** e",
      ],
    },
  },
  m8_sound_speed: {
    parameters: {
      gamma: { is: "adiabatic index of the gas", from: 1.3, to: 1.7, scale: "linear" },
      T: { is: "temperature of the gas", from: 1e1, to: 1e3 },
      M: { is: "molar mass of the gas", from: 1e-3, to: 1e-1 },
    },
    constants: { C: 3.516e2 },
    laws: {
      easy: ["sqrt(gamma * C * T ** 2 / M)", "gamma * C * T / M", "sqrt(C * T / M)"],
      medium: [
        "sqrt(gamma * C * T ** 2 / M ** 1.5)",
        "gamma * T * C / M ** (1 / 3)",
        "sqrt(C * T * M ** 1.5)",
      ],
      hard: [
        "sqrt(exp(gamma) * C * T ** 2 / M ** 1.5)",
        "log(gamma) * T * C / M ** (1 / 3)",
        "(C * T * M ** 1.5) ** -2.8",
      ],
    },
  },
  m9_hooke_law: {
    parameters: { x: { is: "displacement from the equilibrium", from: 1e-3, to: 1 } },
    constants: { k: 231.141, C2: 1241.9012, C3: 12.578 },
    undefinedIfNegative: ["x"],
    laws: {
      easy: ["2 * k * x ** 2", "2 * k * x ** 0.5", "2 * k * x ** 3.4"],
      medium: [
        "2 * k * x ** 2 + C2 * x",
        "2 * k * x ** 0.5 + C2 * x ** 3",
        "2 * k * x ** 3.4 + C2 * x ** 0.5",
      ],
      hard: [
        "2 * k * x ** 2 + C2 * x + C3 / sqrt(x)",
        "2 * k * x ** 0.5 + C2 * x ** 3 + C3 / x ** 0.3",
        "2 * k * x ** 3.4 + C2 * x ** 0.5 + C3 / x ** (10 / 3)",
      ],
    },
  },
  m10_be_distribution: {
    parameters: {
      omega: { is: "angular frequency", from: 1e8, to: 1e10 },
      T: { is: "temperature", from: 1e1, to: 1e3 },
    },
    constants: { C: 1.0513e-14 },
    positiveOnly: true,
    laws: {
      easy: [
        "1 / (exp(C * omega / T) + 1)",
        "1 / (exp(C * omega ** 0.5 / T) - 1)",
        "1 / (exp(C * omega / T ** 3) - 1)",
      ],
      medium: [
        "1 / (exp(C * omega ** 1.5 / T) + 1)",
        "1 / (exp(C * omega ** 0.5 * T) - 1)",
        "1 / (exp(C * omega ** 1.5 / T ** 3) - 1)",
      ],
      hard: [
        "1 / (exp(C * omega ** 1.5 / T ** 2) + 1)",
        "1 / (exp(C * (omega ** 0.5 * T ** 2.3)) - 1)",
        "1 / (-log(C * omega ** 1.5 / T ** 3) - 1)",
      ],
    },
  },
  m11_heat_transfer: {
    parameters: {
      m: { is: "mass of the substance", from: 1e-3, to: 1e3 },
      c: { is: "a constant of the substance", from: 1e2, to: 1e4 },
      delta_T: { is: "change of the temperature", from: 1e1, to: 1e3 },
    },
    zeroUnlessPositive: ["m", "c", "delta_T"],
    laws: {
      easy: ["m * c * delta_T ** 2.5", "m ** 2.5 * c * delta_T", "(m * delta_T) ** 2.5 * c"],
      medium: ["c / (m * delta_T ** 2.5)", "c / (m ** 2.5 * delta_T)", "c / (m ** 2.5 * delta_T ** 2.5)"],
      hard: [
        "c / (m ** (e + 1) * delta_T ** 2.5)",
        "c / (m ** 2.5 * delta_T ** (e + 1))",
        "c / (m * delta_T) ** (e + 1)",
      ],
    },
  },
} as const satisfies Record<string, Subject>;

export type SubjectName = keyof typeof SUBJECTS;

export interface Law {
  formula: string;
  parameters: Subject["parameters"];
  /** The value for these parameters, in the order of `parameters`; NaN where the law has none. */
  value(...given: number[]): number;
}

export function lawOf(name: SubjectName, difficulty: Difficulty, version: Version): Law {
  const subject: Subject = SUBJECTS[name];
  const parameters = Object.keys(subject.parameters);
  const formula = subject.laws[difficulty][VERSIONS.indexOf(version)] as string;
  const compute = compileFormula(formula, [...parameters, ...Object.keys(subject.constants ?? {})]);
  return {
    formula,
    parameters: subject.parameters,
    value(...given) {
      const values: Record<string, number> = { ...subject.constants };
      for (const [index, parameter] of parameters.entries()) values[parameter] = given[index] as number;
      const of = (parameter: string) => values[parameter] as number;
      if (subject.zeroUnlessPositive?.some((parameter) => of(parameter) <= 0)) return 0;
      if (subject.zeroIfZero?.some((parameter) => of(parameter) === 0)) return 0;
      if (subject.undefinedIfNegative?.some((parameter) => of(parameter) < 0)) return Number.NaN;
      const value = compute(values);
      return Number.isFinite(value) && !(subject.positiveOnly && value <= 0) ? value : Number.NaN;
    },
  };
}
