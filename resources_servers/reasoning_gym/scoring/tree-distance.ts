export interface Tree {
  label: string;
  children: readonly Tree[];
}

interface Ordered {
  labels: string[];
  /** For every node, in post-order, its leftmost descendant leaf. */
  leftmost: number[];
  /** Nodes that are not a first child, and the root. */
  keyRoots: number[];
}

function order(tree: Tree): Ordered {
  const labels: string[] = [];
  const leftmost: number[] = [];
  const visit = (node: Tree): number => {
    let left = -1;
    for (const child of node.children) {
      const below = visit(child);
      if (left === -1) left = below;
    }
    labels.push(node.label);
    const own = left === -1 ? labels.length - 1 : left;
    leftmost.push(own);
    return own;
  };
  visit(tree);
  const last = new Map(leftmost.map((leaf, index) => [leaf, index]));
  return { labels, leftmost, keyRoots: [...last.values()].sort((a, b) => a - b) };
}

/**
 * Minimum cost to turn one ordered tree into another by inserting, deleting and relabelling nodes (Zhang and Shasha). An insertion
 * or deletion costs the distance of the label to no label.
 */
export function treeDistance(
  a: Tree,
  b: Tree,
  labelDistance: (left: string, right: string) => number,
): number {
  const [left, right] = [order(a), order(b)];
  const removal = left.labels.map((label) => labelDistance(label, ""));
  const insertion = right.labels.map((label) => labelDistance("", label));
  const trees = left.labels.map(() => new Array<number>(right.labels.length).fill(0));
  const at = (table: readonly number[][], i: number, j: number) => table[i]?.[j] ?? 0;
  for (const i of left.keyRoots) {
    for (const j of right.keyRoots) {
      const [li, lj] = [left.leftmost[i] ?? 0, right.leftmost[j] ?? 0];
      const [rows, columns] = [i - li + 2, j - lj + 2];
      const forest = Array.from({ length: rows }, () => new Array<number>(columns).fill(0));
      const set = (x: number, y: number, value: number) => {
        const row = forest[x];
        if (row !== undefined) row[y] = value;
      };
      for (let x = 1; x < rows; x++) set(x, 0, at(forest, x - 1, 0) + (removal[li + x - 1] ?? 0));
      for (let y = 1; y < columns; y++) set(0, y, at(forest, 0, y - 1) + (insertion[lj + y - 1] ?? 0));
      for (let x = 1; x < rows; x++) {
        for (let y = 1; y < columns; y++) {
          const [n, m] = [li + x - 1, lj + y - 1];
          const removed = at(forest, x - 1, y) + (removal[n] ?? 0);
          const inserted = at(forest, x, y - 1) + (insertion[m] ?? 0);
          const whole = left.leftmost[n] === li && right.leftmost[m] === lj;
          const relabel = whole
            ? at(forest, x - 1, y - 1) + labelDistance(left.labels[n] ?? "", right.labels[m] ?? "")
            : at(forest, (left.leftmost[n] ?? 0) - li, (right.leftmost[m] ?? 0) - lj) + at(trees, n, m);
          const least = Math.min(removed, inserted, relabel);
          set(x, y, least);
          const row = trees[n];
          if (whole && row !== undefined) row[m] = least;
        }
      }
    }
  }
  return at(trees, left.labels.length - 1, right.labels.length - 1);
}
