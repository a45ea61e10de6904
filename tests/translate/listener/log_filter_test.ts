/** Expressions of access logs, judged by this project's parser and by Envoy. */
import assert from "node:assert/strict";
import { celProblem } from "../../../lib/config/validation/cel.ts";
import { any } from "../../../lib/pb/codec.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { BAD, GOOD } from "../../config/cel_expressions.ts";
import { envoyPath } from "../../envoy/path.ts";
import { validate } from "../../envoy/verdict.ts";

const path = envoyPath();

function listener(expression: string): envoy.config.listener.v3.Listener {
  const filter = any("envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter", { expression });
  const log = any("envoy.extensions.access_loggers.file.v3.FileAccessLog", { path: "/dev/null" });
  const extension_filter = { name: "envoy.access_loggers.extension_filters.cel", typed_config: filter };
  return {
    name: "one",
    address: { socket_address: { address: "127.0.0.1", port_value: 1 } },
    access_log: [{ name: "envoy.access_loggers.file", typed_config: log, filter: { extension_filter } }],
    filter_chains: [{ filters: [] }],
  };
}

Deno.test({
  name: "Envoy compiles the expressions that the parser takes, and refuses the others",
  ignore: path === undefined,
  async fn() {
    const functions = [
      "size('a')",
      "int('1')",
      "uint('1')",
      "double('1')",
      "bytes('a')",
      "type(1)",
      "dyn(1)",
    ]
      .concat([
        "timestamp('2024-01-01T00:00:00Z')",
        "duration('1s')",
        "bool(true)",
        "'a'.contains('b')",
        "'a'.endsWith('b')",
      ])
      .concat(
        [
          "FullYear",
          "Month",
          "Date",
          "DayOfMonth",
          "DayOfYear",
          "DayOfWeek",
          "Hours",
          "Minutes",
          "Seconds",
          "Milliseconds",
        ]
          .map((unit) => `request.time.get${unit}()`),
      );
    const differing: string[] = [];
    for (const expression of [...GOOD, ...BAD, ...functions]) {
      const { accepted, output } = await validate(path!, { listeners: [listener(expression)] });
      const problem = celProblem(expression);
      if ((problem === undefined) !== accepted) {
        differing.push(`${expression}: ${problem}; Envoy: ${output.slice(-300)}`);
      }
    }
    assert.deepEqual(differing, []);
  },
});
