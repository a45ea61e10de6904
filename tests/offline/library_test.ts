/** The functions of `mod.ts` over texts: a proxy and a URL, and the analysis. */
import assert from "node:assert/strict";
import { analyze, BadQuestion, followRequest, NoSuchProxy, UnreadableInput } from "../../mod.ts";
import { example } from "./mesh_of.ts";

const files = example("tour");

Deno.test("a URL dialled at a gateway is followed to the endpoint's proxy, with object, file and line", async () => {
  const node = {
    id: "router~10.0.0.20~door.shop~shop.svc.cluster.local",
    metadata: { NAMESPACE: "shop", LABELS: { app: "door" } },
  };
  const { hops, end } = await followRequest({ files, from: node, to: "http://shop.example.com:8088/cart" });
  assert.deepEqual(hops.map(({ direction }) => direction), ["direct", "inbound"]);
  assert.equal(end.kind, "forwarded", end.text);
  const rule = hops[0]!.steps.find(({ what, matches }) => what === "rule" && matches);
  assert.match(`${rule?.object} ${rule?.place?.file}`, /^VirtualService\/shop\/[a-z-]+ gateway\.yaml$/);
  assert.ok((rule?.place?.line ?? 0) > 1);
});

Deno.test("a caller's own metadata of a node counts: without the gateway's labels nothing listens", async () => {
  const node = { id: "router~10.0.0.20~x.shop~shop.svc.cluster.local", metadata: { LABELS: { app: "other" } } };
  const { end } = await followRequest({ files, from: node, to: "http://shop.example.com:8088/" });
  assert.equal(end.kind, "closed", end.text);
});

Deno.test("headers and method decide as on the wire", async () => {
  const shop = example("shop");
  const ask = (headers: Record<string, string>) =>
    followRequest({ files: shop, from: "shop/cart", to: "http://reviews/api", headers });
  const rulesOf = async (headers: Record<string, string>) =>
    (await ask(headers)).hops[0]!.steps.filter(({ what, matches }) => what === "rule" && matches).map(({ name }) =>
      name
    );
  assert.notDeepEqual(await rulesOf({ "x-beta": "yes" }), await rulesOf({}));
});

Deno.test("analyze reads texts and folders; findings have the paths that the caller named", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const broken = { ...example("shop") };
    broken["routes.yaml"] = broken["routes.yaml"]!.replace("subset: v1 }", "subset: v9 }");
    for (const [name, text] of Object.entries(broken)) await Deno.writeTextFile(`${folder}/${name}`, text);
    const ofTexts = await analyze({ files: broken });
    const ofFolder = await analyze({ paths: [folder] });
    const shown = ({ findings }: typeof ofTexts, prefix: string) =>
      findings.map((
        { code, place: { origin, line } },
      ) => [code, origin?.from === "file" ? origin.file.replace(prefix, "") : "", line]);
    assert.deepEqual(shown(ofTexts, ""), shown(ofFolder, `${folder}/`));
    assert.deepEqual(ofTexts.findings.map(({ code, value }) => [code, value]), [["MSH0101", '"v9"']]);
    assert.deepEqual([ofTexts.objects, ofFolder.objects], [6, 6]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("what a caller got wrong is named: the URL, the proxy, paths, the mesh configuration", async () => {
  await assert.rejects(followRequest({ files, from: "shop/cart", to: "ftp://x" }), BadQuestion);
  await assert.rejects(followRequest({ files, from: "nowhere/cart", to: "http://x" }), NoSuchProxy);
  await assert.rejects(analyze({ paths: ["/no/such", "-"] }), UnreadableInput);
  await assert.rejects(analyze({ files, meshConfig: "a: [1" }), { name: "RangeError" });
});
