/**
 * The service graph as SVG: callers on the left, called services on the right. So calls in circles need no long lines, and
 * every line is read from left to right. The picture needs no script; each node and edge has a title with the whole meaning.
 *
 * @module
 */
import { countWords, type EdgeResult, edgeResult, nodeUrl, tlsText, trafficWords } from "../debug/graph.ts";
import type { StateWord } from "../debug/list_page.ts";
import { counted } from "../debug/words.ts";
import type { GraphEdge } from "../graph/edges.ts";
import type { GraphNode } from "../graph/service_graph.ts";
import { layOut, type Point } from "./graph_layout.ts";
import { type Html, markup } from "./html.ts";

/** The nodes and edges of a picture. */
export interface DrawnPart {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

const HEIGHT = 40;
const LINE = 15;
/** The width of a letter, px: no font is measured here, so the width is a generous guess. */
const LETTER = 6.9;
const MAX_LETTERS = 38;

/** A box of a side: a node that calls and is called has a box on both sides. */
interface Box {
  readonly id: string;
  readonly side: "from" | "to";
  readonly node: GraphNode;
  readonly lines: readonly string[];
  readonly width: number;
  readonly height: number;
}

/** The picture. @param title for readers who do not see the picture */
export function picture({ nodes, edges }: DrawnPart, title: string): Html {
  // The division of a service's own traffic is a line of the service.
  const drawn = edges.filter(({ from, to, kind }) => from !== to || kind === "call");
  const sources = new Set(drawn.map(({ from }) => from));
  const targets = new Set(drawn.map(({ to }) => to));
  const boxes = [
    ...column("from", nodes.filter(({ id }) => sources.has(id))),
    // A service without callers is shown among the called ones.
    ...column("to", nodes.filter(({ id }) => targets.has(id) || !sources.has(id))),
  ];
  const labels = drawn.map(labelTexts);
  const layout = layOut(
    boxes,
    drawn.map(({ from, to }, i) => ({
      from: `from ${from}`,
      to: `to ${to}`,
      labelWidth: LETTER * Math.max(0, ...labels[i]!.map(({ text }) => text.length)),
      labelHeight: LABEL_LINE * labels[i]!.length,
    })),
  );
  const byId = new Map(boxes.map((one) => [one.id, one]));
  const side = (id: string, direction: 1 | -1): Point => {
    const { x, y } = layout.nodes.get(id)!;
    return { x: x + direction * byId.get(id)!.width / 2, y };
  };
  const ends = ({ from, to }: GraphEdge, label: Point | undefined) =>
    [side(`from ${from}`, 1), label, side(`to ${to}`, -1)] as const;
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  const { width, height } = layout;
  return markup`<svg class="calls" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}"
 height="${height}" role="group" aria-label="${title}"><defs>${MARKERS.map(marker)}</defs>
${drawn.map((edge, i) => edgeHtml(edge, labels[i]!, ends(edge, layout.edges[i]), names))}
${boxes.map((one) => nodeHtml(one, layout.nodes.get(one.id)!))}</svg>`;
}

/** The boxes of a side, of the same width: lines begin and end beside the boxes. */
function column(side: "from" | "to", nodes: readonly GraphNode[]): readonly Box[] {
  const boxes = nodes.map((node) => ({ id: `${side} ${node.id}`, side, node, lines: linesOf(node) }));
  const longest = Math.max(0, ...boxes.flatMap(({ lines }) => lines.map(({ length }) => length)));
  const width = 18 + LETTER * longest;
  return boxes.map((one) => ({ ...one, width, height: HEIGHT - LINE + LINE * (one.lines.length - 1) }));
}

const MARKERS = ["allowed", "conditional", "denied", "hidden", "measured", "route"] as const;

function marker(name: string): Html {
  return markup`<marker id="to-${name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9"
 markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8Z"/></marker>`;
}

function linesOf(node: GraphNode): readonly string[] {
  const { name, kind, services, shares = [] } = node;
  const second = kind === "namespace"
    ? services === undefined ? "other workloads of the namespace" : counted(services, "service")
    : kind === "anyone"
    ? "not named by any policy"
    : kind === "service"
    ? ""
    : kind;
  const lines = [name, [second, tlsText(node)].filter((one) => one !== "").join(", "), ...shares.slice(0, 3)];
  return lines.filter((one) => one !== "").map((line) => shortened(line, MAX_LETTERS));
}

/** A line of a label, with the tone of its errors. */
interface LabelLine {
  readonly text: string;
  readonly tone?: StateWord["tone"];
}

const LABEL_LINE = 13;
/** The width of a letter of a label, px: the font is smaller. */
const LABEL_LETTER = 5.8;

/** The meaning of an edge, and below it its traffic. */
function labelTexts(edge: GraphEdge): readonly LabelLine[] {
  const text = shortened(labelOf(edge), 26);
  return [...text === "" ? [] : [{ text }], ...measuredLines(edge)];
}

/** Rate and errors in a single line, in the tone of the errors. */
function measuredLines(edge: GraphEdge): readonly LabelLine[] {
  const words = trafficWords(edge);
  if (words.length === 0) return [];
  const text = words.map((one) => typeof one === "string" ? one : one.word).join(", ");
  const tone = words.flatMap((one) => typeof one === "string" ? [] : one.tone)[0];
  return [tone === undefined ? { text } : { text, tone }];
}

function labelHtml({ text, tone }: LabelLine, { x, y }: Point): Html {
  const width = LABEL_LETTER * text.length + 6;
  return markup`<rect class="under" x="${round(x - width / 2)}" y="${round(y - LABEL_LINE + 3)}" width="${
    round(width)
  }" height="${LABEL_LINE}"/><text class="label${tone !== undefined && ` ${tone}`}" x="${round(x)}" y="${
    round(y)
  }" text-anchor="middle">${text}</text>`;
}

function labelOf(edge: GraphEdge): string {
  const result = edgeResult(edge);
  if (edge.shares !== undefined && edge.kind !== "call") {
    if (edge.shares.every((share) => share === "100 %")) return result === "allowed" ? "" : plainLabel(edge, result);
    const text = edge.shares.slice(0, 2).join(", ") + (edge.shares.length > 2 ? ", ..." : "");
    return result === "denied" ? `✗ denied` : result === "conditional" ? `${text}, for some` : text;
  }
  return plainLabel(edge, result);
}

function plainLabel(edge: GraphEdge, result: EdgeResult): string {
  if (result === "measured") return "";
  if (result === "denied") return "✗ denied";
  if (result === "hidden") return "not visible";
  const all = edge.allowed + edge.conditional + edge.denied + edge.hidden;
  const open = edge.allowed + edge.conditional;
  if (result === "conditional" && all === 1) return `if ${edge.conditions?.join(", ") ?? "conditions hold"}`;
  return all === 1 ? "" : open === all ? `${all}` : `${open} of ${all}`;
}

function edgeHtml(
  edge: GraphEdge,
  lines: readonly LabelLine[],
  [start, label, end]: readonly [start: Point, label: Point | undefined, end: Point],
  names: ReadonlyMap<string, string>,
): Html {
  const { from, to, kind, conditions = [], shares = [], except = [] } = edge;
  const result = edgeResult(edge);
  const measured = measuredLines(edge);
  const said = [
    `${names.get(from) ?? from} to ${names.get(to) ?? to} (${kind}): ${
      kind === "traffic" ? "measured" : countWords(edge).map(({ word }) => word).join(", ")
    }`,
    ...conditions.length > 0 ? [`depends on ${conditions.join(", ")}`] : [],
    ...shares.length > 0 ? [`traffic ${shares.join(", ")}`] : [],
    ...except.length > 0 ? [`not for ${except.join(", ")}`] : [],
    ...measured.length > 0 ? [`measured ${measured.map(({ text }) => text).join(", ")}`] : [],
  ];
  const look = kind === "route" && result === "allowed" ? "route" : result;
  return markup`<g class="${look} ${kind === "entrance" && kind}"><title>${said.join("; ")}</title><path d="${
    curve(start, label, end)
  }" marker-end="url(#to-${look})"/>${
    label !== undefined && lines.map((line, at) =>
      labelHtml(line, { x: label.x, y: label.y + 4 + LABEL_LINE * (at - (lines.length - 1) / 2) })
    )
  }</g>`;
}

/** A line from the right side of a box to the left side of another, through the place of its label. */
function curve({ x: x1, y: y1 }: Point, through: Point | undefined, { x: x2, y: y2 }: Point): string {
  const points = through === undefined ? [{ x: x2, y: y2 }] : [through, { x: x2, y: y2 }];
  let [x, y] = [x1, y1];
  let path = `M${round(x)} ${round(y)}`;
  for (const next of points) {
    const bend = round((x + next.x) / 2);
    path += `C${bend} ${round(y)} ${bend} ${round(next.y)} ${round(next.x)} ${round(next.y)}`;
    [x, y] = [next.x, next.y];
  }
  return path;
}

function nodeHtml({ node, lines, width, height }: Box, { x, y }: Point): Html {
  const [left, top] = [x - width / 2, y - height / 2];
  const title = [node.name, node.kind, tlsText(node), ...node.shares ?? []].filter((one) => one !== "").join("; ");
  const texts = lines.map((line, i) =>
    markup`<text${i > 0 && markup` class="small"`} x="${round(left + 9)}" y="${
      round(top + 17 + i * LINE)
    }">${line}</text>`
  );
  const body = markup`<title>${title}</title><rect x="${round(left)}" y="${round(top)}" width="${
    round(width)
  }" height="${round(height)}" rx="5"/>${texts}`;
  const url = nodeUrl(node);
  const content = url === undefined ? body : markup`<a href="${url}">${body}</a>`;
  return markup`<g class="${node.kind}">${content}</g>`;
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
