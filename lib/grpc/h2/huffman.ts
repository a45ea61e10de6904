/**
 * The Huffman code of HPACK (RFC 7541, appendix B), decoding only. The code is canonical, so the lengths of its 257
 * code words define it.
 *
 * @module
 */

/** Length of the code word of each symbol, 0 to 256 (= end of string): `a` is 5 bits, `z` is 30. */
const LENGTHS =
  "isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxxbffhibdgffdgdbbbaaabbbbbbbcdkbhfibccccccccccccccccccccccdcdioijbkababab" +
  "bbaccbbbabcbaabccccckgjixprpprrrsrssssststtrstssssqrsrsstrqprrssqrrtqrssqqrqsrssprrrsrrsvvporsruvvvwwvtuoqvwwvwtqqvvx" +
  "wwwptpqrqqsrruuttvsvwvvwwwwwxwwwwwvz";

/**
 * Binary tree in an array: node `n` has its children at `2n` and `2n + 1`; a value >= 0 is the next node, below zero
 * it is `-1 - symbol`.
 */
const TREE = buildTree();

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

/** Decodes a Huffman string to bytes; undefined when it is none. */
export function decodeHuffman(data: Uint8Array): Uint8Array | undefined {
  // The shortest code word has 5 bits.
  const out = new Uint8Array(Math.floor(data.length * 8 / 5));
  let length = 0;
  let node = 0;
  let depth = 0;
  let ones = true;
  for (const byte of data) {
    for (let bit = 7; bit >= 0; bit--) {
      const value = byte >> bit & 1;
      const next = TREE[2 * node + value]!;
      depth++;
      ones &&= value === 1;
      if (next >= 0) {
        node = next;
        continue;
      }
      if (next === -257) return undefined;
      out[length++] = -1 - next;
      node = 0;
      depth = 0;
      ones = true;
    }
  }
  // What is left must be less than a byte of the beginning of the end symbol, which is all ones.
  return depth < 8 && ones ? out.subarray(0, length) : undefined;
}
