/** The images have the content of the container files' target `bundled`, and the names of the manifests. */
import assert from "node:assert/strict";
import { BASE_PACKAGES, RELEASE } from "../../scripts/images/base.ts";
import { ENVOY, type Image, imageOf, MESH_IMAGES, RUNTIME } from "../../scripts/images/description.ts";

const root = new URL("../../", import.meta.url);
const PACKAGES =
  /^apt-get update && apt-get install --yes --no-install-recommends (.*) && rm -rf \/var\/lib\/apt\/lists\/\*$/;

/** An instruction of a container file. */
interface Instruction {
  readonly word: string;
  readonly rest: string;
}

/** The instructions of a target, those of the stages below included, and the image at the bottom. */
function targetOf(text: string, target: string): { readonly bottom: string; readonly instructions: Instruction[] } {
  const lines = text.replace(/^#.*\n/gm, "").replace(/\s*\\\n\s*/g, " ").split("\n").filter((line) => line !== "");
  const stages = new Map<string, { from: string; instructions: Instruction[] }>();
  let stage: { from: string; instructions: Instruction[] } | undefined;
  for (const line of lines) {
    const [, word = "", rest = ""] = /^(\w+) (.*)$/.exec(line) ?? [];
    const [, from = "", name = ""] = word === "FROM" ? /^(\S+) AS (\S+)$/.exec(rest) ?? [] : [];
    if (word === "FROM") stages.set(name, stage = { from, instructions: [] });
    else stage?.instructions.push({ word, rest });
  }
  const collected: Instruction[] = [];
  for (let name = target;;) {
    const found = stages.get(name);
    if (found === undefined) return { bottom: name, instructions: collected };
    collected.unshift(...found.instructions);
    name = found.from;
  }
}

/** The files of a description in the words of a container file. */
function filesOf({ content }: Image): string[] {
  return content.flatMap(({ files }) => files).map((file) => {
    // A builder of containers ends the program by time, not by its output.
    if ("run" in file) return `RUN ${file.run.replace("exec ", "timeout --signal=TERM 10 ")} || true`;
    if ("target" in file) return `RUN ${JSON.stringify(["ln", "-s", file.target, file.to]).replaceAll(",", ", ")}`;
    assert.ok("from" in file);
    if (file.from === RUNTIME) return `COPY --from=deno /deno ${file.to}`;
    return `COPY ${file.from} ${file.to}`;
  });
}

for (const name of MESH_IMAGES) {
  const text = Deno.readTextFileSync(new URL(`containers/${name}.Containerfile`, root));
  const { bottom, instructions } = targetOf(text, "bundled");
  const rests = (word: string) => instructions.filter((one) => one.word === word).map(({ rest }) => rest);
  const image = imageOf(name);

  Deno.test(`${name}: files, links, environment, user and program match the container file`, () => {
    const own = filesOf(image).filter((line) => !line.startsWith(`COPY ${ENVOY} `));
    const theirs = [
      ...rests("COPY").map((rest) => `COPY ${rest}`),
      ...rests("RUN").filter((rest) => !PACKAGES.test(rest)).map((rest) => `RUN ${rest}`),
    ];
    assert.deepEqual(own.sort(), theirs.sort());
    const env = rests("ENV").flatMap((rest) => rest.split(" "));
    assert.deepEqual(Object.entries(image.env).map(([name, value]) => `${name}=${value}`), env);
    assert.deepEqual([image.user, JSON.stringify(image.entrypoint)], [
      rests("USER").at(-1),
      rests("ENTRYPOINT").at(-1),
    ]);
    assert.deepEqual([...new Set(rests("WORKDIR"))], ["/"]);
  });

  Deno.test(`${name}: the base has the packages, and the runtime the version, of the container file`, () => {
    const packages = rests("RUN").flatMap((rest) => PACKAGES.exec(rest)?.[1]?.split(" ") ?? []);
    assert.deepEqual(packages.filter((one) => !(BASE_PACKAGES as readonly string[]).includes(one)), []);
    const { bottom: runtime } = targetOf(text, "deno");
    assert.equal(runtime, `docker.io/denoland/deno:bin-${Deno.version.deno}`);
    // The proxy's container file takes Envoy with its own system. The archive has the same Envoy on our base.
    const envoy = filesOf(image).includes(`COPY ${ENVOY} /usr/local/bin/envoy`);
    assert.match(bottom, envoy ? /^docker\.io\/envoyproxy\/envoy:v/ : new RegExp(`/debian:${RELEASE}-slim$`));
  });
}

Deno.test("the images have the names that the manifests and the injector use", () => {
  const used = ["meshd", "node-agent"].flatMap((file) =>
    [...Deno.readTextFileSync(new URL(`manifests/${file}.yaml`, root)).matchAll(/^\s+image: (\S+)$/gm)]
      .map(([, name = ""]) => name)
  );
  const made = MESH_IMAGES.map((name) => imageOf(name).reference);
  assert.deepEqual([...used, made.find((name) => name.includes("/proxy:"))].sort(), made.toSorted());
});
