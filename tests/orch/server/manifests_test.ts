/** A real API takes all of `manifests/` by server-side apply, twice, without a warning. */
import assert from "node:assert/strict";
import { openExchange } from "../../../lib/orch/client/exchange.ts";
import { ApiClient } from "../../../lib/orch/client/client.ts";
import { ApiObjects } from "../support/server/objects.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";

const test = apiServerTests();
const folder = new URL("../../../manifests/", import.meta.url);

test("all manifests are applied by server-side apply, definitions first and webhooks last, and the API warns of nothing", async ({ server }) => {
  const files = [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".yaml"));
  const names = files.map(({ name }) => name.replace(/\.yaml$/, ""));
  const last = ["remote-leader", "remote-reader", "webhooks"];
  const first = ["definitions", "pilot-discovery", "install-cni"];
  const rest = names.filter((name) => !first.includes(name) && !last.includes(name)).sort();
  assert.deepEqual([...first, ...last].filter((name) => !names.includes(name)), []);
  const warnings: string[] = [];
  const { access } = server;
  const open = await openExchange(access);
  const exchange = async (url: string, init: RequestInit) => {
    const response = await open.exchange(url, init);
    const warning = response.headers.get("warning");
    if (warning !== null) warnings.push(warning);
    return response;
  };
  const objects = new ApiObjects(new ApiClient({ access: { current: () => access, refused: () => {} }, exchange }));
  try {
    for (const name of [...first, ...rest, ...last]) {
      for (const draft of manifests(name)) {
        if (draft.kind === "CustomResourceDefinition") await objects.define(draft);
        else await objects.apply(draft);
        const again = await objects.apply(draft);
        assert.equal(again.metadata.name, draft.metadata.name);
      }
    }
    assert.deepEqual(warnings, []);
  } finally {
    for (const draft of manifests("webhooks")) await objects.delete(draft);
    open.close();
  }
});
