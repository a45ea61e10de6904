/**
 * A picture of an object and its neighbours. Objects with a reference to the object stand on the left, referenced
 * objects on the right.
 *
 * @module
 */
import { type Html, markup } from "./html.ts";
import { objectUrl } from "../debug/links.ts";
import type { ObjectArrow } from "./arrow.ts";

/** Nodes of a picture, including the object itself and the two nodes for the rest. */
const MAX_NODES = 50;

const NODE_WIDTH = 290;
const NODE_HEIGHT = 24;
const STEP = 32;
const GAP = 70;

interface PictureNode {
  readonly text: string;
  readonly href?: string;
  readonly missing?: boolean;
}

/**
 * The picture; undefined: the object has no neighbours.
 * @param nameOf The key of an object as its author spells it.
 */
export function neighbourhood(
  key: string,
  arrows: readonly ObjectArrow[],
  nameOf: (key: string) => string,
): Html | undefined {
  const sources = arrows.filter(({ to }) => to === key);
  const left = column(sources.map(({ from }) => ({ text: nameOf(from), href: objectUrl(from) })));
  const right = column(arrows.filter(({ from }) => from === key).map((arrow) => targetNode(arrow, nameOf)));
  if (left.length + right.length === 0) return undefined;
  const rows = Math.max(left.length, right.length, 1);
  const height = rows * STEP;
  const middle = (height - NODE_HEIGHT) / 2;
  // A side without nodes takes no room.
  const x = left.length > 0 ? NODE_WIDTH + GAP : 0;
  const end = x + NODE_WIDTH + GAP;
  const at = (nodes: readonly PictureNode[], i: number) => i * STEP + (height - nodes.length * STEP) / 2 + 4;
  const center = middle + NODE_HEIGHT / 2;
  const width = (right.length > 0 ? end : x) + NODE_WIDTH;
  return markup`<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="What ${
    nameOf(key)
  } is tied to">
${left.map((_, i) => edge(NODE_WIDTH, at(left, i) + NODE_HEIGHT / 2, x, center))}
${right.map((_, i) => edge(x + NODE_WIDTH, center, end, at(right, i) + NODE_HEIGHT / 2))}
${left.map((node, i) => box(node, 0, at(left, i)))}${right.map((node, i) => box(node, end, at(right, i)))}
${box({ text: nameOf(key) }, x, middle, "node self")}</svg>`;
}

function targetNode({ to, href, missing }: ObjectArrow, nameOf: (key: string) => string): PictureNode {
  return { text: nameOf(to), missing, ...(href === undefined ? {} : { href }) };
}

/** The nodes of a side. If there are too many, the last node says how many are left out. */
function column(nodes: readonly PictureNode[]): readonly PictureNode[] {
  const room = (MAX_NODES - 1) >> 1;
  if (nodes.length <= room) return nodes;
  return [...nodes.slice(0, room - 1), { text: `and ${nodes.length - room + 1} more` }];
}

function edge(x1: number, y1: number, x2: number, y2: number): Html {
  const bend = (x1 + x2) / 2;
  return markup`<path class="edge" d="M${x1} ${y1}C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}"/>`;
}

/** Characters of a name in a node. */
const NODE_TEXT = 44;

function box({ text, href, missing = false }: PictureNode, x: number, y: number, kind = "node"): Html {
  const short = text.length > NODE_TEXT ? `${text.slice(0, NODE_TEXT - 1)}…` : text;
  const name = `${text}${missing ? " (not there)" : ""}`;
  const body = markup`<title>${name}</title><rect class="${kind}${
    missing ? " missing" : ""
  }" x="${x}" y="${y}" rx="4" width="${NODE_WIDTH}" height="${NODE_HEIGHT}"/><text x="${x + 7}" y="${
    y + 16
  }">${short}</text>`;
  return href === undefined ? markup`<g>${body}</g>` : markup`<a href="${href}">${body}</a>`;
}
