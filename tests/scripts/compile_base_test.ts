/** Whether the runtime's base binary is at hand or can be downloaded. */
import assert from "node:assert/strict";
import { baseProblem } from "../../scripts/compile_base.ts";

/** No binary is at hand: only the download is left. */
const NOTHING = { given: "", kept: "/nowhere/denort.zip" };

Deno.test("an address that refuses, answers with an error or is silent is named with its reason", async () => {
  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const refused = `http://127.0.0.1:${(closed.addr as Deno.NetAddr).port}/denort.zip`;
  closed.close();
  // The kernel completes connections to this port, and nobody answers them.
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const quiet = `http://127.0.0.1:${(silent.addr as Deno.NetAddr).port}/denort.zip`;
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    ({ url }) => new Response(null, { status: url.endsWith("/there") ? 200 : 404 }),
  );
  const at = `http://127.0.0.1:${server.addr.port}`;
  const problem = (url: string, patience?: number) => baseProblem({ ...NOTHING, url }, patience);
  assert.match(await problem(refused) ?? "", /from http:\S+ \(.*Connection refused.*\)\. Download it.*DENORT_BIN/);
  assert.match(await problem(quiet, 50) ?? "", /\(no answer within 0\.05 s\)/);
  assert.match(await problem(`${at}/gone`) ?? "", /\(status 404\)/);
  assert.equal(await problem(`${at}/there`), undefined);
});

Deno.test("a binary that is given or kept from an earlier download needs no network", async () => {
  const file = await Deno.makeTempFile();
  const url = "http://127.0.0.1:1/denort.zip";
  try {
    assert.equal(await baseProblem({ ...NOTHING, given: file, url }), undefined);
    assert.equal(await baseProblem({ ...NOTHING, kept: file, url }), undefined);
    assert.match(
      await baseProblem({ given: "/nowhere/denort", kept: file, url }) ?? "",
      /^DENORT_BIN: got \/nowhere\/denort, which is no file/,
    );
  } finally {
    await Deno.remove(file);
  }
});
