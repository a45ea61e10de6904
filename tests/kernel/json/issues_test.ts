import assert from "node:assert/strict";
import { z } from "zod";
import { issueLines } from "../../../lib/kernel/json/issues.ts";

const schema = z.object({
  name: z.string({ error: "a text" }),
  ports: z.array(z.object({ "target.port": z.number({ error: "a number" }) }, { error: "an object" }), {
    error: "an array",
  }).optional(),
}, { error: "an object" });

function lines(value: unknown): string[] {
  const result = schema.safeParse(value, { reportInput: true });
  return result.success ? [] : issueLines(result.error.issues, "the body");
}

Deno.test({
  name: "every issue is a line with field, value and expectation",
  permissions: "none",
  fn() {
    assert.deepEqual(lines({ name: "n", ports: [] }), []);
    assert.deepEqual(lines({ ports: [{ "target.port": "x" }, 7, {}] }), [
      "name: got none, expected a text",
      `ports[0]["target.port"]: got "x", expected a number`,
      "ports[1]: got 7, expected an object",
      `ports[2]["target.port"]: got none, expected a number`,
    ]);
    assert.deepEqual(lines([]), ["the body: got an array, expected an object"]);
    assert.deepEqual(lines({ name: { a: 1 }, ports: null }), [
      "name: got an object, expected a text",
      "ports: got null, expected an array",
    ]);
  },
});

Deno.test({
  name: "a long value is cut",
  permissions: "none",
  fn() {
    const [line] = lines({ name: "n", ports: "x".repeat(5000) });
    assert.equal(line, `ports: got "${"x".repeat(99)}... (5002 characters), expected an array`);
  },
});
