/** Envoy takes a listener of any contributions. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { mergeOutboundListener } from "../../../lib/translate/listener/outbound/merge.ts";
import { envoyPath } from "../../envoy/path.ts";
import { validate } from "../../envoy/verdict.ts";
import { meshReader } from "../mesh_reader.ts";
import { anyParts } from "./make_contributions.ts";

const envoyBinary = envoyPath();

Deno.test({
  name: "Envoy accepts the listener of any contributions",
  ignore: envoyBinary === undefined,
  async fn() {
    const listeners = fc.sample(anyParts, { numRuns: 300, seed: 1 }).flatMap((contributions, i) => {
      const port = 20_000 + i;
      const key = `0.0.0.0_${port}`;
      const moved = contributions.map((contribution) => ({ ...contribution, key, port }));
      return mergeOutboundListener(meshReader(), key, moved).listener ?? [];
    });
    assert.ok(listeners.length > 200);
    const verdict = await validate(envoyBinary!, { listeners });
    assert.ok(verdict.accepted, verdict.output);
  },
});
