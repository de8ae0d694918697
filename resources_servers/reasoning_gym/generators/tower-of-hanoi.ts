import { defineGenerator } from "./generator.ts";

interface Tower {
  num_disks: number;
  num_pegs: 3;
  start_peg: number;
  target_peg: number;
  solution_length: number;
}

function move(disks: number, from: number, to: number, spare: number, onMove: (text: string) => void): void {
  if (disks === 0) return;
  move(disks - 1, from, spare, to, onMove);
  onMove(`Move disk ${disks} from Peg ${from} to Peg ${to}`);
  move(disks - 1, spare, to, from, onMove);
}

/** The tower of Hanoi on three pegs. */
export const towerOfHanoi = defineGenerator<Tower>({
  task: "tower_of_hanoi",
  draw: (random, level) => {
    const num_disks = level + 2;
    const [start_peg, target_peg] = random.sample([1, 2, 3], 2) as [number, number];
    const question =
      `Peg ${start_peg} of three pegs holds ${num_disks} disks, the largest (disk ${num_disks}) at the bottom and the smallest ` +
      `(disk 1) on top. Bring them all to Peg ${target_peg} in as few moves as possible: one disk at a time, and never a larger ` +
      "one on a smaller one.\nAnswer with one move a line, written as: Move disk 1 from Peg 1 to Peg 3";
    return {
      question,
      metadata: { num_disks, num_pegs: 3, start_peg, target_peg, solution_length: 2 ** num_disks - 1 },
    };
  },
  solve: ({ num_disks, start_peg, target_peg }) => {
    const lines: string[] = [];
    move(num_disks, start_peg, target_peg, 6 - start_peg - target_peg, (line) => lines.push(line));
    return lines.join("\n");
  },
});
