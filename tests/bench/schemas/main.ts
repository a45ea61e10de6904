/**
 * The kinds' own schema language beside zod, with the same meaning and with a plain structure: CPU, memory and load time,
 * in turn, medians of seven rounds.
 *
 *     deno run --allow-run=deno --allow-read --allow-env tests/bench/schemas/main.ts
 *
 * @module
 */

const ROUNDS = 7;
const LANGUAGES = ["own", "zod", "plain"];

async function measure(language: string, what: string): Promise<Record<string, number>> {
  const child = new URL("./child.ts", import.meta.url).pathname;
  const { stdout } = await new Deno.Command("deno", {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--v8-flags=--expose-gc",
      "--allow-read",
      "--allow-env",
      child,
      language,
      what,
    ],
    stdout: "piped",
    stderr: "inherit",
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout));
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

for (const what of ["load", "decode"]) {
  const runs = new Map<string, Record<string, number>[]>(LANGUAGES.map((language) => [language, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const language of LANGUAGES) runs.get(language)?.push(await measure(language, what));
  }
  for (const figure of Object.keys(runs.get("own")?.[0] ?? {})) {
    const medians = LANGUAGES.map((language) => [
      language,
      median((runs.get(language) ?? []).map((run) => run[figure] ?? NaN)).toFixed(2),
    ]);
    console.log(`${what} ${figure}: ${medians.map((pair) => pair.join(" ")).join(", ")}`);
  }
}
