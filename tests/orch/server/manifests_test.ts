/** A real API takes all of `manifests/` by server-side apply, twice, without a warning. */
import assert from "node:assert/strict";
import { openExchange } from "../../../lib/orch/client/exchange.ts";
import { ApiClient } from "../../../lib/orch/client/client.ts";
import { installObjects } from "../../../lib/install/parts.ts";
import { withoutComments } from "../../../lib/install/template/resolved.ts";
import { defaultValues } from "../../../lib/install/values/values.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { ApiObjects, type ObjectDraft, type ObjectId } from "../support/server/objects.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";

const test = apiServerTests();
const folder = new URL("../../../manifests/", import.meta.url);

/** Applies objects twice in their order, and tells what the API warned of. */
async function applied(server: ApiServer, drafts: readonly (ObjectDraft & ObjectId)[]): Promise<readonly string[]> {
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
    for (const draft of drafts) {
      if (draft.kind === "CustomResourceDefinition") await objects.define(draft);
      else await objects.apply(draft);
      const again = await objects.apply(draft);
      assert.equal(again.metadata.name, draft.metadata.name);
    }
  } finally {
    open.close();
  }
  return warnings;
}

test("all manifests are applied by server-side apply, definitions first and webhooks last, and the API warns of nothing", async ({ server }) => {
  const files = [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".yaml"));
  const names = files.map(({ name }) => name.replace(/\.yaml$/, ""));
  const last = ["remote-leader", "remote-reader", "webhooks"];
  const first = ["definitions", "pilot-discovery", "install-cni"];
  const rest = names.filter((name) => !first.includes(name) && !last.includes(name)).sort();
  assert.deepEqual([...first, ...last].filter((name) => !names.includes(name)), []);
  try {
    assert.deepEqual(await applied(server, [...first, ...rest, ...last].flatMap(manifests)), []);
  } finally {
    for (const draft of manifests("webhooks")) await server.objects.delete(draft);
  }
});

test("servers, node agent and node tunnel of ambient mode are applied, and the API warns of nothing", async ({ server }) => {
  const tunnel = { "tunnel.network": "net-1", "tunnel.env": [{ name: "RUST_LOG", value: "debug" }] };
  const ambient = { "ambient.enabled": true, "ambient.enablementSelector": "- podSelector: {}\n", ...tunnel };
  const parts = ["base", "rights", "server", "plugin", "tunnel"] as const;
  const drafts = installObjects(defaultValues(ambient), parts).map(withoutComments) as unknown as (
    & ObjectDraft
    & ObjectId
  )[];
  assert.deepEqual(await applied(server, drafts), []);
  const set = drafts.find(({ kind, metadata }) => kind === "DaemonSet" && metadata.name === "ztunnel");
  assert.ok(set !== undefined && await server.objects.path(set), "the tunnel is among the objects");
});
