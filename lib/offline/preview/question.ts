/**
 * The body of a preview, read.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import * as z from "zod";
import { issueLines } from "../../kernel/json/issues.ts";

const question = z.strictObject({
  files: z.record(z.string(), z.string({ error: "the text of a file" }), {
    error: "texts by the paths of their files",
  }),
  reversed: z.boolean({ error: "true or false" }).default(false),
  nodes: z.array(z.string({ error: "namespace/name or a node id" }), { error: "a list of proxies" }).default([]),
}, {
  error: ({ code }) =>
    code === "unrecognized_keys"
      ? "no fields but files, nodes and reversed"
      : "an object with files, and perhaps nodes and reversed",
});

/** The question: the files of the configuration folder after the change. */
export type PreviewQuestion = z.output<typeof question>;

/** An unreadable question. The message names every mistake. */
export class UnreadableQuestion extends Error {
  override readonly name = "UnreadableQuestion";
}

/** Reads a body. @throws {UnreadableQuestion} */
export function readPreview(body: Uint8Array): PreviewQuestion {
  let tree: unknown;
  try {
    tree = JSON.parse(new TextDecoder().decode(body));
  } catch (error) {
    const why = errorMessage(error);
    throw new UnreadableQuestion(`the body is not JSON: ${why}`);
  }
  const read = question.safeParse(tree, { reportInput: true });
  if (read.success) return read.data;
  throw new UnreadableQuestion(issueLines(read.error.issues, "the body").join("\n"));
}
