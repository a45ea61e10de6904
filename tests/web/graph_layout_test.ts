/** Places of boxes and labels in the picture of the service graph. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { type LabelledEdge, layOut, type SizedNode } from "../../lib/web/graph_layout.ts";

const size = fc.integer({ min: 20, max: 80 });

const graph = fc.record({
  from: fc.array(size, { minLength: 1, maxLength: 12 }),
  to: fc.array(size, { minLength: 1, maxLength: 12 }),
  edges: fc.uniqueArray(
    fc.record({
      from: fc.nat({ max: 11 }),
      to: fc.nat({ max: 11 }),
      labelWidth: fc.constantFrom(0, 30, 120),
      labelHeight: fc.constantFrom(13, 26),
    }),
    { maxLength: 40, selector: ({ from, to }) => `${from} ${to}` },
  ),
}).map(({ from, to, edges }) => ({
  nodes: [
    ...from.map((height, at): SizedNode => ({ id: `f${at}`, side: "from", width: 100, height })),
    ...to.map((height, at): SizedNode => ({ id: `t${at}`, side: "to", width: 140, height })),
  ],
  edges: edges.map((one): LabelledEdge => ({
    ...one,
    from: `f${one.from % from.length}`,
    to: `t${one.to % to.length}`,
  })),
}));

interface Span {
  readonly middle: number;
  readonly size: number;
}

/** Whether no two spans overlap, and all are inside. */
function standApart(spans: readonly Span[], height: number): boolean {
  const sorted = spans.toSorted((a, b) => a.middle - b.middle);
  return sorted.every(({ middle, size }, at) => {
    const before = sorted[at - 1];
    const top = before === undefined ? 0 : before.middle + before.size / 2;
    return middle - size / 2 >= top - 1e-6 && middle + size / 2 <= height;
  });
}

Deno.test("boxes and labels never overlap, stand inside the picture, and callers are on the left", () => {
  fc.assert(fc.property(graph, ({ nodes, edges }) => {
    const layout = layOut(nodes, edges);
    for (const side of ["from", "to"] as const) {
      const own = nodes.filter((one) => one.side === side);
      const spans = own.map(({ id, height }) => ({ middle: layout.nodes.get(id)!.y, size: height }));
      assert.ok(standApart(spans, layout.height));
    }
    const labels = edges.flatMap(({ labelHeight }, at) => {
      const place = layout.edges[at];
      return place === undefined ? [] : [{ middle: place.y, size: labelHeight }];
    });
    assert.ok(standApart(labels, layout.height));
    assert.equal(labels.length, edges.filter(({ labelWidth }) => labelWidth > 0).length);
    for (const { from, to } of edges) {
      assert.ok(layout.nodes.get(from)!.x + 50 < layout.nodes.get(to)!.x - 70 && layout.width > 0);
    }
  }));
});

Deno.test("neighbours stand beside each other: a chain of pairs is drawn in straight lines", () => {
  const ids = [3, 1, 4, 0, 2];
  const nodes = [
    ...ids.map((at): SizedNode => ({ id: `f${at}`, side: "from", width: 100, height: 40 })),
    ...ids.toSorted().map((at): SizedNode => ({ id: `t${at}`, side: "to", width: 100, height: 40 })),
  ];
  const edges = ids.map((at) => ({ from: `f${at}`, to: `t${at}`, labelWidth: 0, labelHeight: 0 }));
  const { nodes: places } = layOut(nodes, edges);
  for (const at of ids) assert.equal(places.get(`f${at}`)!.y, places.get(`t${at}`)!.y);
});

Deno.test("a graph without nodes has a size", () => {
  const { width, height } = layOut([], []);
  assert.ok(Number.isFinite(width) && Number.isFinite(height));
});
