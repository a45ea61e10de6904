/**
 * The Huffman code of HPACK (RFC 7541, appendix B), decoding only. The code is canonical: the lengths of the 257 code
 * words define it.
 *
 * @module
 */

/** Length of the code word of each symbol, 0 to 256 (= end of string): `a` is 5 bits, `z` is 30. */
const LENGTHS =
  "isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxxbffhibdgffdgdbbbaaabbbbbbbcdkbhfibccccccccccccccccccccccdcdioijbkababab" +
  "bbaccbbbabcbaabccccckgjixprpprrrsrssssststtrstssssqrsrsstrqprrssqsrrtqrssqqrqsrssprrrsrrsvvporsruvvvwwvtuoqvwwvwtqqvvx" +
  "wwwptpqrqqsrruuttvsvwvvwwwwwxwwwwwvz";

/**
 * Binary tree in an array: the children of node `n` are at `2n` and `2n + 1`. A value >= 0 is the next node, a value
 * below zero is `-1 - symbol`. Nodes are numbered row by row, and inside a row in the order of their prefixes, the
 * smallest first.
 */
const TREE = buildTree();
/** In the tree: the end symbol. */
const END_SYMBOL = -257;

/** In each row of a canonical code the finished words come first. The other slots lead to nodes of the next row. */
function buildTree(): Int16Array {
  const byLength: number[][] = [];
  for (let symbol = 0; symbol < LENGTHS.length; symbol++) {
    (byLength[LENGTHS.charCodeAt(symbol) - 92] ??= []).push(symbol);
  }
  const tree = new Int16Array(2 * (LENGTHS.length - 1));
  let node = 1;
  for (let slot = 0, length = 1, width = 2; slot < tree.length; length++) {
    const ending = byLength[length] ?? [];
    for (const symbol of ending) tree[slot++] = -1 - symbol;
    for (let other = ending.length; other < width; other++) tree[slot++] = node++;
    width = 2 * (width - ending.length);
  }
  return tree;
}

/** Bits for the node of a step; the tree has 256 nodes. */
const NODE_BITS = 8;
/** In place of a symbol: no symbol is complete. */
const NO_SYMBOL = 256;
/** In place of a symbol: the end symbol, which is forbidden in a string. */
const BROKEN = 257;

/** In place of a step: not computed yet. */
const UNKNOWN = -1;

/**
 * The decoder's steps of four bits, for each node of the tree. `STEPS[16 * node + bits]` holds the node after the bits,
 * and above the node the completed symbol (at most one, since no code word has less than five bits).
 *
 * Each step is computed at the first use. Computing all 4096 steps at the start would be so much work in one loop that
 * the engine compiles the loop with its optimizing compiler. An idle agent would then keep 4 MB of pages for nothing
 * else.
 */
const STEPS = new Int32Array(16 * TREE.length / 2).fill(UNKNOWN);

function findStep(at: number): number {
  let node = at >> 4;
  let symbol = NO_SYMBOL;
  for (let bit = 3; bit >= 0; bit--) {
    const next = TREE[2 * node + (at >> bit & 1)]!;
    if (next < 0) symbol = next === END_SYMBOL ? BROKEN : -1 - next;
    node = next < 0 ? 0 : next;
  }
  return STEPS[at] = symbol << NODE_BITS | node;
}

/**
 * Nodes at which a string may end. The rest after the last symbol is less than a byte of ones (section 5.2). Therefore
 * a string may end at the root, and at seven nodes along the branch of ones.
 */
const ENDS = buildEnds();

function buildEnds(): Uint8Array {
  const ends = new Uint8Array(TREE.length / 2);
  for (let node = 0, depth = 0; depth < 8; depth++, node = TREE[2 * node + 1]!) ends[node] = 1;
  return ends;
}

/**
 * Decodes a Huffman string.
 *
 * @param out takes the bytes; for the size see {@linkcode huffmanSize}
 * @returns the number of bytes; -1: not a Huffman string
 */
export function decodeHuffman(data: Uint8Array, out: Uint8Array): number {
  let length = 0;
  let node = 0;
  for (let at = 0; at < data.length; at++) {
    const byte = data[at]!;
    let place = 16 * node + (byte >> 4);
    let step = STEPS[place]!;
    if (step === UNKNOWN) step = findStep(place);
    let symbol = step >> NODE_BITS;
    if (symbol < NO_SYMBOL) out[length++] = symbol;
    else if (symbol === BROKEN) return -1;
    place = 16 * (step & 255) + (byte & 15);
    step = STEPS[place]!;
    if (step === UNKNOWN) step = findStep(place);
    symbol = step >> NODE_BITS;
    if (symbol < NO_SYMBOL) out[length++] = symbol;
    else if (symbol === BROKEN) return -1;
    node = step & 255;
  }
  return ENDS[node] === 1 ? length : -1;
}

/** Most bytes in a Huffman string of a length: the shortest code word has five bits. */
export function huffmanSize(length: number): number {
  return Math.floor(length * 8 / 5);
}
