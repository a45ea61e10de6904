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
 * it is `-1 - symbol`.
 */
const TREE = buildTree();
/** In the tree: the end symbol. */
const END_SYMBOL = -257;

function buildTree(): Int16Array {
  const tree: number[] = [0, 0];
  const symbols = [...LENGTHS].map((letter, symbol) => ({ symbol, length: letter.charCodeAt(0) - 92 }));
  symbols.sort((a, b) => a.length - b.length || a.symbol - b.symbol);
  let code = 0;
  let previous = 0;
  for (const { symbol, length } of symbols) {
    code = code * 2 ** (length - previous);
    previous = length;
    let node = 0;
    for (let bit = length - 1; bit >= 0; bit--) {
      const slot = 2 * node + Math.floor(code / 2 ** bit) % 2;
      if (bit === 0) tree[slot] = -1 - symbol;
      else {
        if (tree[slot] === 0) {
          tree[slot] = tree.length / 2;
          tree.push(0, 0);
        }
        node = tree[slot]!;
      }
    }
    code++;
  }
  return Int16Array.from(tree);
}

/** Bits of a step that hold its node; the tree has 256. */
const NODE_BITS = 8;
/** In the place of a symbol: none is completed. */
const NO_SYMBOL = 256;
/** In the place of a symbol: the end symbol, which no string may hold. */
const BROKEN = 257;

/**
 * The steps of a decoder by four bits, for each node of the tree: `STEPS[16 * node + bits]` holds the node after them, and
 * above it the symbol that they complete (one at most, since no code word has less than five bits).
 */
const STEPS = buildSteps();

function buildSteps(): Int32Array {
  const steps = new Int32Array(16 * TREE.length / 2);
  for (let from = 0; from < TREE.length / 2; from++) {
    for (let bits = 0; bits < 16; bits++) {
      let node = from;
      let symbol = NO_SYMBOL;
      for (let bit = 3; bit >= 0; bit--) {
        const next = TREE[2 * node + (bits >> bit & 1)]!;
        if (next < 0) symbol = next === END_SYMBOL ? BROKEN : -1 - next;
        node = next < 0 ? 0 : next;
      }
      steps[16 * from + bits] = symbol << NODE_BITS | node;
    }
  }
  return steps;
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
    let step = STEPS[16 * node + (byte >> 4)]!;
    let symbol = step >> NODE_BITS;
    if (symbol < NO_SYMBOL) out[length++] = symbol;
    else if (symbol === BROKEN) return -1;
    step = STEPS[16 * (step & 255) + (byte & 15)]!;
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
