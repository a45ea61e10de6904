import assert from "node:assert/strict";
import { TestAuthority } from "../support/authority.ts";
import { TestRegistry } from "../support/registry.ts";
import { wasmModule } from "../support/wasm_files.ts";

const root = new URL("../../..", import.meta.url).pathname;

Deno.test("an agent fetches an image by name over TLS, with the authorities of its machine, with no more than its permission set", async () => {
  const folder = await Deno.makeTempDir({ dir: "/tmp" });
  try {
    const authority = await TestAuthority.make();
    const { certificate: cert, privateKey: key } = await authority.certificateOf({ dns: ["localhost"] });
    await using registry = new TestRegistry({ cert, key });
    const mediaType = "application/vnd.module.wasm.content.layer.v1+wasm";
    await registry.push("demo/auth:1", [{ mediaType, bytes: wasmModule("it") }]);
    await Deno.writeTextFile(`${folder}/roots.pem`, authority.root);
    const program = `${root}tests/agent/support/fetch_one_module.ts`;
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--quiet", "--no-prompt", "-P=pilot-agent", "--config", `${root}deno.json`, program],
        ...[`oci://localhost:${registry.server.port}/demo/auth:1`, folder],
      ],
      env: { SSL_CERT_FILE: `${folder}/roots.pem` },
    }).output();
    const [text = "", errors = ""] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    assert.match(text, new RegExp(`${folder}/wasm/[0-9a-f]{64}/[0-9a-f]{64}\\.wasm`), errors);
    assert.equal(errors, "");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
