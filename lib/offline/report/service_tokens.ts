/**
 * Texts without the tokens that services mark: those of GitHub, Slack, npm, AWS and many more.
 *
 * Permissions: env, all (secretlint's switches for debugging).
 *
 * @module
 */
import { lintSource } from "@secretlint/core";
import { creator } from "@secretlint/secretlint-rule-preset-recommend";
import { HIDDEN } from "./hidden.ts";

const CONFIG = { rules: [{ id: "@secretlint/secretlint-rule-preset-recommend", rule: creator }] };

/** The text without the tokens that secretlint knows. */
export async function withoutServiceTokens(text: string): Promise<string> {
  const { messages } = await lintSource({
    source: { filePath: "/report.txt", content: text, contentType: "text" },
    options: { config: CONFIG, noPhysicFilePath: true },
  });
  let kept = "";
  let from = 0;
  for (const { range: [start, end] } of messages.toSorted((a, b) => a.range[0] - b.range[0])) {
    if (end <= from) continue;
    kept += start < from ? "" : `${text.slice(from, start)}${HIDDEN}`;
    from = end;
  }
  return kept + text.slice(from);
}
