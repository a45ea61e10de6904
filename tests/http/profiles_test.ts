/** Profiles under `/debug/pprof/`: both forms, by their usual readers, and the rights of clients. */
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { Profile } from "pprof-format";
import { localOnly } from "../../lib/http/local_only.ts";
import { allocationPprof, cpuPprof, type V8AllocationNode } from "../../lib/http/profiles/pprof.ts";
import { profileRoutes } from "../../lib/http/profiles/routes.ts";
import { HttpServer } from "../../lib/http/server.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { go } from "../wire_conformance/support/go.ts";

const frame = (functionName: string, url = "file:///a.ts", lineNumber = 9) => ({ functionName, url, lineNumber });

/** The stacks of a profile, the outermost function first, with the values of each. */
function stacks(packed: Uint8Array): Record<string, number[]> {
  const { sample, location, function: functions, stringTable } = Profile.decode(gunzipSync(packed));
  const nameOf = (id: number) => {
    const { functionId } = location.find((one) => Number(one.id) === id)!.line[0]!;
    return stringTable.strings[Number(functions.find((one) => one.id === functionId)!.name)]!;
  };
  return Object.fromEntries(sample.map(({ locationId, value }) => [
    locationId.map((id) => nameOf(Number(id))).reverse().join(" > "),
    value.map(Number),
  ]));
}

Deno.test("a CPU profile for pprof has the time of each stack, without the time in which the program waited", () => {
  const packed = cpuPprof({
    ...{ startTime: 0, endTime: 1000 },
    nodes: [
      { id: 1, callFrame: frame("(root)", "", -1), children: [2, 3, 6] },
      { id: 2, callFrame: frame("(idle)", "", -1) },
      { id: 3, callFrame: frame("outer"), children: [4, 5] },
      { id: 4, callFrame: frame("inner", "file:///b.ts", 0) },
      { id: 5, callFrame: frame("", "file:///a.ts", 20) },
      { id: 6, callFrame: frame("inner", "file:///b.ts", 0) },
    ],
    samples: [2, 4, 4, 5, 6, 3],
    timeDeltas: [500, 100, 50, 25, 10, 5],
  });
  assert.deepEqual(stacks(packed), {
    "outer > inner": [2, 150_000],
    "outer > (anonymous)": [1, 25_000],
    inner: [1, 10_000],
    outer: [1, 5_000],
  });
  const { function: functions, sampleType, stringTable, durationNanos } = Profile.decode(gunzipSync(packed));
  assert.deepEqual(functions.map(({ startLine }) => Number(startLine)).sort(), [1, 10, 21], "lines count from 1");
  assert.deepEqual(sampleType.map(({ type, unit }) => [type, unit].map((at) => stringTable.strings[Number(at)])), [
    ["samples", "count"],
    ["cpu", "nanoseconds"],
  ]);
  assert.equal(Number(durationNanos), 1_000_000);
});

Deno.test("allocations for pprof have the number and the bytes of each stack, however deep", () => {
  const node = (id: number, name: string, children: V8AllocationNode[] = []): V8AllocationNode => ({
    ...{ id, callFrame: frame(name), children },
  });
  let deep = node(9999, "leaf");
  for (let id = 9998; id > 2; id--) deep = node(id, `f${id % 7}`, [deep]);
  const head = node(1, "(root)", [deep, node(2, "maker")]);
  const samples = [{ size: 100, nodeId: 2 }, { size: 28, nodeId: 2 }, { size: 7, nodeId: 9999 }, {
    size: 1,
    nodeId: -5,
  }];
  const found = stacks(allocationPprof({ head, samples }));
  assert.deepEqual(found["maker"], [2, 128]);
  assert.deepEqual(Object.values(found), [[2, 128], [1, 7]]);
});

async function withPages(run: (address: string) => Promise<void>): Promise<void> {
  const server = new HttpServer({ routes: profileRoutes("program", [localOnly]), log: silentLog().scope("http") });
  const { port } = await server.listen("127.0.0.1:0");
  let busy = true;
  const spin = () => {
    const until = performance.now() + 5;
    while (performance.now() < until) Math.sqrt(until);
    if (busy) setTimeout(spin, 1);
  };
  spin();
  try {
    await run(`http://127.0.0.1:${port}/debug/pprof`);
  } finally {
    busy = false;
    await server.close();
  }
}

Deno.test("what a profile is asked for wrongly is answered with all mistakes at once", () =>
  withPages(async (at) => {
    const bad = await fetch(`${at}/profile?seconds=0&form=x`);
    assert.deepEqual([bad.status, (await bad.text()).trimEnd().split("\n")], [400, [
      'seconds: got "0", expected a number above 0, at most 300',
      'form: got "x", expected pprof or v8',
    ]]);
    for (const seconds of ["-1", "x", "1e9", ""]) {
      const { status, body } = await fetch(`${at}/allocs?seconds=${seconds}`);
      await body?.cancel();
      assert.equal(status, 400, seconds);
    }
  }));

Deno.test("one profile is made at a time, and a client that goes away ends it", () =>
  withPages(async (at) => {
    const gone = new AbortController();
    const long = fetch(`${at}/profile?seconds=300`, { signal: gone.signal });
    const status = async () => {
      const { status, body } = await fetch(`${at}/profile?seconds=0.05&form=v8`);
      await body?.cancel();
      return status;
    };
    while (await status() !== 409);
    gone.abort();
    await assert.rejects(long);
    while (await status() !== 200);
  }));

Deno.test("a heap snapshot keeps other profiles out until it is read, or its client goes away", () =>
  withPages(async (at) => {
    const status = async (page: string, method = "GET") => {
      const { status, body } = await fetch(`${at}/${page}`, { method });
      await body?.cancel();
      return status;
    };
    assert.equal(await status("heap", "HEAD"), 200);
    const gone = new AbortController();
    const unread = await fetch(`${at}/heap`, { signal: gone.signal });
    const reader = unread.body!.getReader();
    await reader.read();
    assert.deepEqual([await status("heap"), await status("profile?seconds=0.01")], [409, 409]);
    gone.abort();
    await assert.rejects(async () => {
      while (!(await reader.read()).done);
    });
    while (await status("profile?seconds=0.01") !== 200);
    const read = await (await fetch(`${at}/heap`)).json();
    assert.ok(read.snapshot.node_count > 1000);
    assert.equal(await status("profile?seconds=0.01"), 200);
  }));

Deno.test({
  name: "go tool pprof reads the CPU and the allocations of a program that runs, by the names of its functions",
  ignore: go === undefined,
  fn: () =>
    withPages(async (at) => {
      const folder = await Deno.makeTempDir();
      try {
        const top = async (...args: string[]) => {
          const { success, stdout, stderr } = await new Deno.Command(go!, {
            args: ["tool", "pprof", "-top", ...args],
            env: { PPROF_TMPDIR: folder },
          }).output();
          const text = new TextDecoder().decode(stdout);
          assert.ok(success, text + new TextDecoder().decode(stderr));
          return text;
        };
        const cpu = await top(`${at}/profile?seconds=1`);
        assert.match(cpu, /Type: cpu/);
        assert.match(cpu, /% +spin$/m, cpu);
        assert.match(await top("-sample_index=alloc_space", `${at}/allocs?seconds=1`), /Type: alloc_space/);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    }),
});
