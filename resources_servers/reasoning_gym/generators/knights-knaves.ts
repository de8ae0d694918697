import { defineGenerator, times } from "./generator.ts";

const NAMES = ["Adele", "Bruno", "Clara", "Dario", "Edda", "Farid"];

/** A statement of one inhabitant about two: the role of each, and how the two claims are combined. */
interface Claim {
  about: [number, number];
  knights: [boolean, boolean];
  joined: "and" | "or" | "if";
}

interface Island {
  names: string[];
  claims: Claim[];
}

function holds({ about, knights, joined }: Claim, isKnight: readonly boolean[]): boolean {
  const [first, second] = [isKnight[about[0]] === knights[0], isKnight[about[1]] === knights[1]];
  if (joined === "and") return first && second;
  return joined === "or" ? first || second : !first || second;
}

/** Every assignment in which exactly the knights' claims are true. */
function solveIsland({ names, claims }: Island): boolean[][] {
  return times(2 ** names.length, (bits) => names.map((_, person) => ((bits >> person) & 1) === 1)).filter(
    (isKnight) => claims.every((claim, person) => holds(claim, isKnight) === isKnight[person]),
  );
}

const role = (isKnight: boolean) => (isKnight ? "a knight" : "a knave");

function say({ about, knights, joined }: Claim, names: readonly string[]): string {
  const [first, second] = about.map(
    (person, index) => `${names[person]} is ${role(knights[index] ?? false)}`,
  );
  return joined === "if" ? `if ${first} then ${second}` : `${first} ${joined} ${second}`;
}

/** Knights tell the truth and knaves lie: who is who? */
export const knightsKnaves = defineGenerator<Island>({
  task: "knights_knaves",
  draw: (random, level) => {
    for (;;) {
      const names = random.sample(NAMES, level + 1);
      const people = times(names.length, (person) => person);
      const claims = people.map(
        (): Claim => ({
          about: random.sample(people, 2) as [number, number],
          knights: [random.random() < 0.5, random.random() < 0.5],
          joined: random.choice(["and", "or", "if"] as const),
        }),
      );
      if (solveIsland({ names, claims }).length !== 1) continue;
      const statements = claims
        .map((claim, person) => `${names[person]} says: "${say(claim, names)}".`)
        .join("\n");
      const format = names.map((name) => `${name} is a knight/knave`).join(", and ");
      const question =
        "On an island live knights, who always tell the truth, and knaves, who always lie. You meet " +
        `${names.join(" and ")}.\n${statements}\nWho is what? Answer in the form: ${format}`;
      return { question, metadata: { names, claims } };
    }
  },
  solve: (island) => {
    const [isKnight = []] = solveIsland(island);
    return island.names.map((name, person) => `${name} is ${role(isKnight[person] ?? false)}`).join(", and ");
  },
});
