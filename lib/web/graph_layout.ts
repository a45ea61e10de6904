/**
 * Places for the nodes and labels of a graph in three columns: callers, labels, called services. Neighbours get near
 * places, so that few lines cross and lines are short.
 *
 * @module
 */

/** A box with its size, in the column of callers or of called services. */
export interface SizedNode {
  readonly id: string;
  readonly side: "from" | "to";
  readonly width: number;
  readonly height: number;
}

/** An edge with the size of its label; 0: none. */
export interface LabelledEdge {
  readonly from: string;
  readonly to: string;
  readonly labelWidth: number;
  readonly labelHeight: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A picture's places: the centres of the nodes, and of the edges' labels in the order of the given edges. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  readonly nodes: ReadonlyMap<string, Point>;
  readonly edges: readonly (Point | undefined)[];
}

const MARGIN = 12;
/** Between boxes, between labels, and between columns. */
const BOX_GAP = 12;
const LABEL_GAP = 4;
const COLUMN_GAP = 70;

/** Rounds of ordering: further rounds hardly change the order. */
const ROUNDS = 4;

/** Places nodes and edges. Every edge leads from a node of the first column to a node of the last. */
export function layOut(nodes: readonly SizedNode[], edges: readonly LabelledEdge[]): GraphLayout {
  const columns = ordered(nodes, edges);
  const y = placed(columns, edges);
  const labelled = edges.filter(({ labelWidth }) => labelWidth > 0);
  const middles = labels(labelled, y);
  const tops = [...nodes.map(({ id, height }) => y.get(id)! - height / 2)];
  const bottoms = [...nodes.map(({ id, height }) => y.get(id)! + height / 2)];
  for (const [{ labelHeight }, middle] of middles) {
    tops.push(middle - labelHeight / 2);
    bottoms.push(middle + labelHeight / 2);
  }
  const down = MARGIN - Math.min(0, ...tops);
  const [left, right] = [columns.from, columns.to].map((all) => Math.max(0, ...all.map(({ width }) => width)));
  const between = Math.max(0, ...labelled.map(({ labelWidth }) => labelWidth));
  const start = MARGIN + left! + COLUMN_GAP;
  const end = start + between + COLUMN_GAP;
  const x = { from: MARGIN + left! / 2, to: end + right! / 2 };
  return {
    width: Math.ceil(end + right! + MARGIN),
    height: Math.ceil(Math.max(0, ...bottoms) + down + MARGIN),
    nodes: new Map(nodes.map(({ id, side }) => [id, { x: x[side], y: y.get(id)! + down }])),
    edges: edges.map((edge) => {
      const middle = middles.get(edge);
      return middle === undefined ? undefined : { x: start + between / 2, y: middle + down };
    }),
  };
}

type Columns = Readonly<Record<SizedNode["side"], readonly SizedNode[]>>;

/** The neighbours of each node. */
function neighboursOf(edges: readonly LabelledEdge[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { from, to } of edges) {
    found.getOrInsertComputed(from, () => []).push(to);
    found.getOrInsertComputed(to, () => []).push(from);
  }
  return found;
}

/** Both columns in an order with few crossings: each node stands at the mean of its neighbours. */
function ordered(nodes: readonly SizedNode[], edges: readonly LabelledEdge[]): Columns {
  const neighbours = neighboursOf(edges);
  const columns = { from: nodes.filter(({ side }) => side === "from"), to: nodes.filter(({ side }) => side === "to") };
  for (let round = 0; round < ROUNDS; round++) {
    const side = round % 2 === 0 ? "to" : "from";
    const other = new Map(columns[side === "to" ? "from" : "to"].map(({ id }, at) => [id, at]));
    const wanted = new Map(columns[side].map(({ id }, at) => [id, meanOf(neighbours.get(id) ?? [], other) ?? at]));
    columns[side] = columns[side].toSorted((a, b) => wanted.get(a.id)! - wanted.get(b.id)!);
  }
  return columns;
}

function meanOf(ids: readonly string[], places: ReadonlyMap<string, number>): number | undefined {
  const known = ids.flatMap((id) => places.get(id) ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, one) => sum + one, 0) / known.length;
}

/** The heights of the centres: the first column without gaps, then each column beside the other. */
function placed(columns: Columns, edges: readonly LabelledEdge[]): Map<string, number> {
  const neighbours = neighboursOf(edges);
  const y = new Map<string, number>();
  for (const all of [columns.from, columns.to]) {
    const free = all.map(({ height }) => ({ want: 0, size: height }));
    for (const [at, place] of spread(free, BOX_GAP).entries()) y.set(all[at]!.id, place);
  }
  for (const all of [columns.to, columns.from, columns.to]) {
    const wanted = all.map(({ id, height }) => ({
      want: meanOf(neighbours.get(id) ?? [], y) ?? y.get(id)!,
      size: height,
    }));
    for (const [at, place] of spread(wanted, BOX_GAP).entries()) y.set(all[at]!.id, place);
  }
  return y;
}

/** The heights of labels, near the middles of their edges. */
function labels(edges: readonly LabelledEdge[], y: ReadonlyMap<string, number>): ReadonlyMap<LabelledEdge, number> {
  const middles = edges.map((edge) => ({
    edge,
    want: (y.get(edge.from)! + y.get(edge.to)!) / 2,
    size: edge.labelHeight,
  }))
    .sort((a, b) => a.want - b.want);
  const places = spread(middles, LABEL_GAP);
  return new Map(middles.map(({ edge }, at) => [edge, places[at]!]));
}

/**
 * The centres of items in a column, in the given order and without overlaps. The sum of the squared distances from the
 * wanted places is the least possible: items that would overlap stand together around their common mean.
 */
function spread(items: readonly { readonly want: number; readonly size: number }[], gap: number): number[] {
  let distance = 0;
  const blocks: { mean: number; count: number }[] = [];
  const distances = items.map(({ size }, at) => distance += at === 0 ? 0 : (items[at - 1]!.size + size) / 2 + gap);
  for (const [at, { want }] of items.entries()) {
    let block = { mean: want - distances[at]!, count: 1 };
    for (let last = blocks.at(-1); last !== undefined && last.mean > block.mean; last = blocks.at(-1)) {
      const count = last.count + block.count;
      block = { mean: (last.mean * last.count + block.mean * block.count) / count, count };
      blocks.pop();
    }
    blocks.push(block);
  }
  const starts = blocks.flatMap(({ mean, count }) => Array.from({ length: count }, () => mean));
  return starts.map((start, at) => start + distances[at]!);
}
