/** A folder with an unreadable part. The user of tests may read everything, so the system's refusal is simulated. */
import assert from "node:assert/strict";
import { watchFolder } from "../../lib/folder/watch.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import { until } from "../patience.ts";

const entry = (port: number) =>
  `apiVersion: networking.mesh.io/v1\nkind: ServiceEntry\nmetadata: {name: a}\nspec:\n` +
  `  hosts: [a.example.com]\n  ports: [{number: ${port}, name: http, protocol: HTTP}]\n`;

Deno.test("a folder below that may not be watched keeps nothing else from being read, and is watched when it may be", async () => {
  const root = await Deno.makeTempDir();
  await Deno.mkdir(`${root}/sub`);
  await Deno.writeTextFile(`${root}/sub/a.yaml`, entry(80));
  const real = Deno.watchFs;
  const opened: boolean[] = [];
  let closed = true;
  Deno.watchFs = (paths, options) => {
    const recursive = options?.recursive ?? true;
    if (recursive && closed) throw new Deno.errors.PermissionDenied("Permission denied (os error 13)");
    opened.push(recursive);
    return real(paths, options);
  };
  const store = new ConfigStore();
  const source = store.addSource("", 0);
  const present: boolean[] = [];
  const seen = () => store.get("ServiceEntry", "default", "a")?.spec.ports?.[0]?.number;
  const edit = async (port: number) => {
    await Deno.writeTextFile(`${root}/sub/a.yaml`, entry(port));
    await until(`port ${port}`, () => seen() === port);
  };
  try {
    const folder = await watchFolder({
      root,
      parse: { defaultNamespace: "default", source: "" },
      onChanges: (changes) => void source.apply(changes),
      onPresence: (is) => present.push(is),
    });
    assert.equal(seen(), 80, "read at the start");
    assert.deepEqual(opened, [false]);
    await edit(81);
    closed = false;
    await edit(82);
    await until("the whole folder is watched", () => opened.includes(true));
    await edit(83);
    assert.deepEqual(present, [], "the folder was there all the time");
    await folder.stop();
  } finally {
    Deno.watchFs = real;
    await Deno.remove(root, { recursive: true });
  }
});
