/**
 * The Huffman code of HPACK (RFC 7541, appendix B), decoding only. The code is canonical, so the lengths of its 257
 * code words define it.
 *
 * @module
 */

/** Length of the code word of each symbol, 0 to 256 (= end of string): `a` is 5 bits, `z` is 30. */
const LENGTHS =
  "isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxxbffhibdgffdgdbbbaaabbbbbbbcdkbhfibccccccccccccccccccccccdcdioijbkababab" +
  "bbaccbbbabcbaabccccckgjixprpprrrsrssssststtrstssssqrsrsstrqprrssqsrrtqrssqqrqsrssprrrsrrsvvporsruvvvwwvtuoqvwwvwtqqvvx" +
  "wwwptpqrqqsrruuttvsvwvvwwwwwxwwwwwvz";

/**
 * Binary tree in an array: node `n` has its children at `2n` and `2n + 1`; a value >= 0 is the next node, below zero
 * it is `-1 - symbol`. Nodes are numbered row by row, as the slots of a row are numbered from its shortest prefix.
 */
const TREE = buildTree();
/** In the tree: the end symbol. */
const END_SYMBOL = -257;

/** In each row of a canonical code the words that end there come first; the other slots lead to nodes of the next row. */
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

/** Bits of a step that hold its node; the tree has 256. */
const NODE_BITS = 8;
/** In the place of a symbol: none is completed. */
const NO_SYMBOL = 256;
/** In the place of a symbol: the end symbol, which no string may hold. */
const BROKEN = 257;

/** In the place of a step: nobody has needed it yet. */
const UNKNOWN = -1;

/**
 * The steps of a decoder by four bits, for each node of the tree: `STEPS[16 * node + bits]` holds the node after them, and
 * above it the symbol that they complete (one at most, since no code word has less than five bits).
 *
 * Each is found when it is first needed: all 4096 at the start of a program are so much work in one loop that the engine
 * compiles it with its last compiler, of which an idle agent would keep 4 MB of pages for nothing else.
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
 * Nodes at which a string may end: what follows the last symbol is less than a byte of ones (section 5.2), so the root and
 * the seven nodes down its side of ones.
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
 * @param out takes the bytes; {@linkcode huffmanSize} says how large it must be
 * @returns how many there are; -1 when it is no Huffman string
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

/** The most bytes that a Huffman string of this length can hold: the shortest code word has five bits. */
export function huffmanSize(length: number): number {
  return Math.floor(length * 8 / 5);
}
