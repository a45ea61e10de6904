/** A machine of a cloud: the agent's node, the machine's token, and the workload's tokens. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { withPorts } from "../../scripts/ports.ts";
import { AgentProcess } from "./support/agent_process.ts";
import { TestAuthority } from "./support/authority.ts";
import { CloudServer, googlePages, unsignedToken } from "./support/cloud_server.ts";
import { until } from "../patience.ts";

const token = unsignedToken(4_000_000_000);

const pages = googlePages({
  "project/numeric-project-id": "123",
  "instance/zone": "projects/123/zones/europe-west1-b",
  "instance/service-accounts/default/identity?audience=cluster.local&format=full": token,
});

Deno.test({
  name:
    "an agent on a cloud's machine proves its identity by the cloud's token, keeps the token in a file, and exchanges it for tokens of the cloud's services",
  fn: () =>
    withPorts(2, async ([sts = 0, status = 0]) => {
      await using cloud = new CloudServer((request) => {
        if (request.line === "POST /exchange") return Response.json({ access_token: "federated" });
        if (request.line === "POST /service-123:access") return Response.json({ accessToken: "access" });
        return pages(request);
      });
      const authority = await TestAuthority.make();
      await using certificates = await authority.listen("ca.test");
      await using agent = await AgentProcess.start({
        args: ["sidecar", `--stsPort=${sts}`, "--tokenManagerPlugin=GoogleTokenExchange"],
        files: { "var/run/secrets/mesh/root-cert.pem": authority.root },
        env: {
          ...{ POD_NAME: "vm-1", POD_NAMESPACE: "demo", SERVICE_ACCOUNT: "vm", INSTANCE_IP: "127.0.0.1" },
          ...{ DISABLE_PROXY: "true", CA_ADDR: `127.0.0.1:${certificates.port}`, MESHD_SAN: "ca.test" },
          ...{ ECC_SIGNATURE_ALGORITHM: "ECDSA", PROXY_CONFIG: JSON.stringify({ statusPort: status }) },
          ...{ CLOUD_PLATFORM: "gcp", GCE_METADATA_HOST: cloud.host, CREDENTIAL_FETCHER_TYPE: "GoogleComputeEngine" },
          MESH_STS_EXCHANGE_ENDPOINT: `http://${cloud.host}/exchange`,
          MESH_STS_ACCESS_ENDPOINT: `http://${cloud.host}/service-{project_number}:access`,
        },
      });
      try {
        await agent.says(/certificate valid until/);
        // A slow answer is asked for again.
        const tokens = new Set(authority.requests.map((request) => request.token));
        assert.deepEqual([...tokens], [`Bearer ${token}`]);
        const file = `${agent.folder}/var/run/secrets/tokens/mesh-token`;
        await until("the token is kept", () => existsSync(file));
        assert.equal(await Deno.readTextFile(file), token);
        assert.equal((await Deno.stat(file)).mode! & 0o777, 0o640);
        await agent.listens(sts);
        const response = await fetch(`http://127.0.0.1:${sts}/token`, {
          method: "POST",
          body: new URLSearchParams({
            grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
            subject_token: await Deno.readTextFile(file),
            subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
          }),
        });
        assert.equal((await response.json()).access_token, "access");
        const exchange = cloud.requests.find(({ line }) => line === "POST /exchange");
        assert.equal(JSON.parse(exchange!.body).audience, "identitynamespace:cluster.local:GoogleComputeEngine");
        assert.equal((await (await fetch(`http://127.0.0.1:${sts}/stsStatus`)).json()).tokens.length, 2);
        agent.signal("SIGTERM");
        assert.equal(await agent.ended, 0, agent.output);
        assert.doesNotMatch(agent.output, /NotCapable|without effect/);
        assert(!agent.output.includes(token));
      } catch (error) {
        throw new Error(agent.output, { cause: error });
      }
    }),
});
