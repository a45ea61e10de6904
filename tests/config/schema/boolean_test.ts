import assert from "node:assert/strict";
import { Findings } from "../../../lib/finding/findings.ts";
import { DecodeContext } from "../../../lib/config/schema/field.ts";
import { bool } from "../../../lib/config/schema/scalars.ts";
import { parseYaml } from "../../../lib/config/yaml/parse.ts";

for (
  const [written, meant] of [["yes", "true"], ["y", "true"], ["On", "true"], ["no", "false"], ["N", "false"], [
    "OFF",
    "false",
  ]]
) {
  Deno.test(`a boolean written ${written} is refused, and the error says to write ${meant}`, () => {
    const parsed = parseYaml(`field: ${written}`);
    assert.ok("tree" in parsed);
    const report = new Findings();
    const context = new DecodeContext("", report);
    context.enter("field");
    assert.equal(bool().decode((parsed.tree as { field: unknown }).field, context), undefined);
    assert.deepEqual(report.list.map(({ severity, message }) => [severity, message]), [
      ["error", `field: "${written}", expected ${meant} (in YAML 1.2 ${written} is text)`],
    ]);
  });
}
