/**
 * Pages of whole tasks as steps: files to save, commands to run, pictures to look at.
 *
 * @module
 */

/** A step of a page, in the order of the page. */
export type PageStep =
  | { readonly save: string; readonly text: string }
  /** Lines for a shell, and their output on the page. Undefined: the page does not show the output. */
  | { readonly run: string; readonly prints: string | undefined }
  /** An address for a browser, the file of the picture, and a text that is on the page of that address. */
  | { readonly open: string; readonly picture: string; readonly shows: string };

/** One expression for all kinds of steps keeps the order of the page. */
const STEPS = new RegExp(
  [
    /save as\s+`(?<save>[\w./-]+)`:\n\n```\w+\n(?<text>[\s\S]*?)^```/.source,
    /^```sh\n(?<run>[\s\S]*?)^```(?:\n\n```(?:text|diff)\n(?<prints>[\s\S]*?)^```)?/.source,
    /open\s+<(?<open>[^>]+)>[^\n]*:\n\n!\[[^\]]*?: (?<shows>[^\]]*)\]\((?<picture>[\w./-]+)\)/.source,
  ].join("|"),
  "gim",
);

/** The steps of a page. */
export function pageSteps(page: string): PageStep[] {
  return [...page.matchAll(STEPS)].map(({ groups = {} }) => {
    const { save, text = "", run, prints, open = "", picture = "", shows = "" } = groups;
    if (save !== undefined) return { save, text };
    if (run !== undefined) return { run, prints };
    return { open, picture, shows: shows.replaceAll(/\s+/g, " ") };
  });
}

/** What a page shows before its first heading: the result. */
export function resultOf(page: string): { readonly texts: string[]; readonly pictures: string[] } {
  const [top = ""] = page.split("\n## ");
  return {
    texts: [...top.matchAll(/^```text\n([\s\S]*?)^```/gm)].map(([, text = ""]) => text),
    pictures: [...top.matchAll(/!\[[^\]]*\]\(([\w./-]+)\)/g)].map(([, path = ""]) => path),
  };
}

/** A page with other outputs: `outputs` has an entry for each command that shows its output, in order. */
export function withOutputs(page: string, outputs: readonly string[]): string {
  let at = 0;
  return page.replaceAll(
    /^(```sh\n[\s\S]*?^```\n\n```(?:text|diff)\n)[\s\S]*?^```/gm,
    (_, before) => `${before}${outputs[at++]}\`\`\``,
  );
}

/**
 * Durations and ages differ with each run, and columns are as wide as their widest age. The formatter of pages takes
 * away the spaces before a block's first word.
 */
const settled = (text: string) =>
  text.replaceAll(/\b\d+\.\d s\b/g, "0.4 s").replaceAll(/\(\d+s\)/g, "(0s)").replaceAll(/ {2,}/g, "  ").trimStart();

/** Whether numbers in the output depend on chance. */
const COUNTS = /\buniq -c\b|\/stats\b/;

/** Five deviations of a count of so many events: less than one run of a million is beyond. */
const near = (one: number, other: number) => Math.abs(one - other) <= 5 * Math.sqrt(Math.max(one, other)) + 1;

/**
 * Whether a command printed the page's text, apart from durations.
 *
 * With the command's counts of requests, each number may differ as far as chance goes, except 0 and whole thousands:
 * "no request" and "all requests" mean exactly that.
 */
export function printsAsShown(run: string, printed: string, shown: string): boolean {
  const [got, expected] = [settled(printed), settled(shown)];
  if (got === expected || !COUNTS.test(run)) return got === expected;
  const numbers = (text: string) => [...text.matchAll(/\b\d+\b/g)].map(Number);
  const words = (text: string) => text.replaceAll(/ *\b\d+\b/g, " 0");
  const exact = (n: number) => n % 1000 === 0;
  return words(got) === words(expected) &&
    numbers(got).every((n, i) =>
      n === numbers(expected)[i] || (!exact(numbers(expected)[i]!) && near(n, numbers(expected)[i]!))
    );
}
