/** The examples of checks before a merge: each command runs as it stands in the example, in a repository of git. */
import assert from "node:assert/strict";
import { parse } from "yaml";
import { sarifForm } from "../offline/sarif_form.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
const example = (name: string) => Deno.readTextFileSync(`${root}/examples/checks/${name}`);

/** Runs a script as GitHub runs a step. The runtime of this test stands for `npx -y deno@2.8.3`. */
async function bash(script: string, cwd: string, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await new Deno.Command("bash", {
    args: ["--noprofile", "--norc", "-eo", "pipefail", "-c", script.replaceAll("npx -y deno@2.8.3", Deno.execPath())],
    cwd,
    env: { NO_COLOR: "1", GIT_CONFIG_GLOBAL: "/dev/null", ...env },
    stdin: "null",
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, out: out!, err: err! };
}

const GIT = "git -c user.name=tests -c user.email=tests@example.com";

/** A mesh whose route leads to a subset. */
const mesh = (subset: string) =>
  `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: reviews, namespace: shop }
spec:
  hosts: [reviews.shop.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [{ address: 10.0.0.1, labels: { version: v1 } }, { address: 10.0.0.2, labels: { version: v2 } }]
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: reviews, namespace: shop }
spec:
  host: reviews.shop.svc.cluster.local
  subsets: [{ name: v1, labels: { version: v1 } }, { name: v2, labels: { version: v2 } }]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: reviews, namespace: shop }
spec:
  hosts: [reviews.shop.svc.cluster.local]
  http: [{ route: [{ destination: { host: reviews.shop.svc.cluster.local, subset: ${subset} } }] }]
`;

/** A repository with a commit of a right mesh, and the path with which its commands run. */
async function inRepository(use: (folder: string, env: Record<string, string>) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "mesh-merge-" });
  try {
    const { code, err } = await bash(`git init -q . && mkdir mesh && ln -s '${root}' .pilot`, folder);
    assert.equal(code, 0, err);
    await Deno.writeTextFile(`${folder}/mesh/reviews.yaml`, mesh("v1"));
    const committed = await bash(`git add mesh && ${GIT} commit -qm first && git rev-parse HEAD`, folder);
    assert.equal(committed.code, 0, committed.err);
    const path = await bash(`cd .pilot && npx -y deno@2.8.3 task -q path`, folder);
    assert.equal(path.code, 0, path.err);
    await use(folder, { PATH: `${path.out.trim()}:${Deno.env.get("PATH")}`, BASE: committed.out.trim() });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

interface Hooks {
  readonly repos: readonly { readonly hooks: readonly { readonly entry: string; readonly files: string }[] }[];
}

Deno.test("the hook for pre-commit passes a right mesh, and ends with 1 and the finding for a wrong mesh", async () => {
  const { repos: [repo] } = parse(example("pre-commit-config.yaml")) as Hooks;
  const { entry, files } = repo!.hooks[0]!;
  assert.match("mesh/reviews.yaml", new RegExp(files));
  await inRepository(async (folder, env) => {
    const right = await bash(entry, folder, env);
    assert.equal(right.code, 0, right.out + right.err);
    await Deno.writeTextFile(`${folder}/mesh/reviews.yaml`, mesh("v9"));
    const wrong = await bash(entry, folder, env);
    assert.equal(wrong.code, 1);
    assert.match(wrong.out, /MSH0101[^]*mesh\/reviews\.yaml:/);
  });
});

Deno.test("the hook of git refuses a commit of a wrong mesh, and looks at what is staged", async () => {
  await inRepository(async (folder, env) => {
    await Deno.writeTextFile(`${folder}/.git/hooks/pre-commit`, example("pre-commit"), { mode: 0o755 });
    const commit = () => bash(`${GIT} commit -qm next`, folder, env);
    await Deno.writeTextFile(`${folder}/mesh/reviews.yaml`, mesh("v9"));
    await bash("git add mesh", folder);
    await Deno.writeTextFile(`${folder}/mesh/reviews.yaml`, mesh("v2"));
    const refused = await commit();
    assert.equal(refused.code, 1, refused.out + refused.err);
    assert.match(refused.out + refused.err, /subset does not exist/);
    await bash("git add mesh", folder);
    const taken = await commit();
    assert.equal(taken.code, 0, taken.out + taken.err);
  });
});

interface WorkflowStep {
  readonly name?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly "working-directory"?: string;
}

const { jobs } = parse(example("github-workflow.yaml")) as {
  readonly jobs: { readonly check: { readonly steps: readonly WorkflowStep[] } };
};

/** Runs the steps with commands. Returns the exit code of each by its name, and what GitHub would take over. */
async function workflow(folder: string, env: Record<string, string>) {
  const [paths, summary] = [`${folder}.path`, `${folder}.summary`];
  for (const file of [paths, summary]) await Deno.writeTextFile(file, "");
  const codes: Record<string, number> = {};
  try {
    for (const step of jobs.check.steps) {
      if (step.run === undefined) continue;
      const added = (await Deno.readTextFile(paths)).trim();
      const { code, err } = await bash(step.run, `${folder}/${step["working-directory"] ?? ""}`, {
        BASE: env.BASE!,
        PATH: added === "" ? Deno.env.get("PATH")! : `${added}:${Deno.env.get("PATH")}`,
        GITHUB_PATH: paths,
        GITHUB_STEP_SUMMARY: summary,
      });
      assert.ok(code <= 1, err);
      codes[step.name!] = code;
    }
    const found = JSON.parse(await Deno.readTextFile(`${folder}/findings.sarif`));
    return { codes, log: sarifForm.parse(found), summary: await Deno.readTextFile(summary) };
  } finally {
    for (const file of [paths, summary]) await Deno.remove(file);
  }
}

Deno.test("the workflow passes a right change, and its summary says what changes", async () => {
  await inRepository(async (folder, env) => {
    await Deno.writeTextFile(`${folder}/mesh/reviews.yaml`, mesh("v2"));
    const { codes, log, summary } = await workflow(folder, env);
    assert.deepEqual(codes, { Programs: 0, Check: 0, "What would change": 0 });
    assert.deepEqual(log.runs[0]!.results, []);
    assert.match(summary, /^```diff\n2 of 2 proxies change[^]*VirtualService shop\/reviews[^]*```\n$/);
  });
});

Deno.test("the workflow fails a wrong change, and its SARIF names the line by a path of the repository", async () => {
  await inRepository(async (folder, env) => {
    await Deno.writeTextFile(`${folder}/mesh/reviews.yaml`, mesh("v9"));
    const { codes, log } = await workflow(folder, env);
    assert.deepEqual(codes, { Programs: 0, Check: 1, "What would change": 0 });
    const places = log.runs[0]!.results.map(({ locations }) => locations[0]!.physicalLocation!);
    assert.deepEqual(places.map(({ artifactLocation }) => artifactLocation.uri), ["mesh/reviews.yaml"]);
    assert.equal(places[0]!.region!.startLine, mesh("v9").split("\n").findIndex((line) => line.includes("v9")) + 1);
  });
});

Deno.test("the workflow uploads the file that its check writes, also after a failure", () => {
  const upload = jobs.check.steps.find(({ uses }) => uses?.startsWith("github/codeql-action/upload-sarif@"));
  assert.equal(upload?.with?.sarif_file, "findings.sarif");
  assert.match(example("github-workflow.yaml"), /if: success\(\) \|\| failure\(\)\n +uses: github\/codeql-action/);
});
