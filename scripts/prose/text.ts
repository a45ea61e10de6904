/**
 * The prose of source files and pages, and its pronouns.
 *
 * @module
 */

/** The counts of a text. */
export interface ProseCount {
  readonly words: number;
  /** Pronouns and relative words. */
  readonly pronouns: number;
  readonly sentences: number;
  /** Sentences in which more than one word of five is a pronoun. */
  readonly pronominal: number;
}

/** Words that stand for a noun which the reader has to find. */
const PRONOUNS = new Set(
  ("it its itself they them their theirs themselves this that these those which who whom whose what one ones").split(
    " ",
  ),
);

/** The comments of TypeScript, without code, tags and links. */
export function commentText(source: string): string {
  const blocks = [...source.matchAll(/^[ \t]*\/\*\*?([\s\S]*?)\*\/|(?:^|[ \t;{(,])\/\/[ \t](.*)$/gm)];
  const texts: string[] = [];
  let line = "";
  for (const [whole, block, rest] of blocks) {
    if (rest === undefined) {
      texts.push(line, plain(block!.replace(/^[ \t]*\*[ \t]?/gm, "")));
      line = "";
    } else if (!/deno-(?:lint|fmt)-ignore|@ts-/.test(whole!)) line += ` ${rest}`;
  }
  return [...texts, plain(line)].join("\n\n");
}

/** The sentences of Markdown, without code blocks, tables and headings. */
export function prosaicText(markdown: string): string {
  return plain(markdown.replace(/^```[\s\S]*?^```/gm, "").replace(/^[ \t]*[|#].*$/gm, "").replace(/^<.*$/gm, ""));
}

function plain(text: string): string {
  return text
    .replace(/^```[\s\S]*?^```/gm, "")
    .replace(/^ {4}.*$/gm, "")
    .replace(/\{@link(?:code)? ([^}]*)\}/g, "$1")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/`[^`\n]*`/g, "X")
    .replace(/@(?:param|throws|returns|template|typeParam) +(?:[\w.]+)?/g, "\n\n")
    .replace(/@\w+/g, "");
}

/** The sentences of a text, each on one line. A paragraph, an item of a list and a full stop end a sentence. */
export function sentences(text: string): string[] {
  return text
    .split(/\n[ \t]*\n|\n(?=[ \t]*(?:[-*]|\d+\.)[ \t])/)
    .flatMap((paragraph) => paragraph.replace(/\s+/g, " ").split(/(?<=[.!?:;]["')]?) (?=\S)/))
    .map((sentence) => sentence.trim())
    .filter((sentence) => wordsOf(sentence).length > 0);
}

/** Whether more than one word of five stands for a noun. */
export function isPronominal(sentence: string): boolean {
  const words = wordsOf(sentence);
  return pronounsAmong(words) * 5 > words.length;
}

export function countProse(text: string): ProseCount {
  const all = sentences(text);
  const words = all.map(wordsOf);
  return {
    words: words.reduce((sum, list) => sum + list.length, 0),
    pronouns: words.reduce((sum, list) => sum + pronounsAmong(list), 0),
    sentences: all.length,
    pronominal: all.filter(isPronominal).length,
  };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[a-z][a-z'’-]*/g) ?? [];
}

function pronounsAmong(words: readonly string[]): number {
  return words.filter((word) => PRONOUNS.has(word)).length;
}
