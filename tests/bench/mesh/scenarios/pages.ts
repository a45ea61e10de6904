/**
 * Web pages about a large mesh, and the cost of viewers for the proxies.
 *
 * Permissions: the permissions of `../session.ts`.
 *
 * @module
 */
import { atMost, calibrationOf, editFigures, figure } from "../figures.ts";
import type { Figure } from "../result.ts";
import { linkOn, loadPage, OpenOverviews, type PageLoad } from "../viewers.ts";
import { checked, label, LARGE, type LoadSpec, rounds, type Scenario, sized, withSession } from "./scenario.ts";

/** Number of viewers. */
const VIEWERS = 10;

/** Number of proxies that connect at a time. */
const AT_ONCE = 20;

/** Number of loads per page. */
const LOADS = 5;

/** Every kind of page, with the longest page of each kind if known. */
async function paths(base: string): Promise<string[]> {
  const object = await linkOn(base, "/debug/configz?kind=VirtualService", /href="(\/debug\/live\?object=[^"]+)"/);
  const proxy = await linkOn(base, "/debug/syncz", /href="(\/debug\/config_dump\?proxyID=[^"]+)"/);
  const service = await linkOn(base, "/debug/registryz", /href="(\/debug\/endpointShardz\?service=[^"]+)"/);
  const namespace = await linkOn(base, "/debug/graph", /href="(\/debug\/graph\?namespace=[^"]+)"/);
  const parts = ["", "&view=resources", "&view=resources&type=eds&q=10.", "&view=tree", "&view=policies"];
  return [
    ...["/debug", "/debug/configz", "/debug/configz?state=in+force&page=9", "/debug/syncz", "/debug/registryz"],
    ...["/debug/pushes", "/debug/problemz", "/debug/search?q=svc", object, service],
    ...["/debug/findings_by_code", "/debug/finding_codes", "/debug/graph", namespace, "/debug/graph.svg"],
    ...parts.map((part) => `${proxy}${part}`),
    `${proxy}&view=request&url=http://${new URLSearchParams(service.split("?")[1]).get("service")!.split("/")[1]}/`,
  ];
}

/** 5,000 services, 400 proxies: each page, then the same edit with and without people before overviews. */
export const pages: Scenario = {
  name: "pages",
  run(options) {
    const full: LoadSpec = { services: LARGE, proxies: 400, delta: true, gzip: true };
    const load = sized(full, options);
    return withSession(load, options, async (session) => {
      const { proxies, services } = load;
      // The connect is not measured here: connecting all at once would need a generator faster than the server.
      checked(await session.connect(AT_ONCE), proxies);
      const base = session.server.pages;
      const loads: PageLoad[] = [];
      options.calibrator.pause();
      const { calibration } = await options.calibrator.beside(async () => {
        for (const path of await paths(base)) loads.push(await loadPage(base, path, LOADS));
      });
      const alone = await rounds(2 * options.rounds, proxies, () => session.changeRoute());
      const viewers = await OpenOverviews.open(base, VIEWERS);
      const watched = await rounds(2 * options.rounds, proxies, () => session.changeRoute()).finally(() =>
        viewers.close()
      );
      const figures = editFigures(watched, proxies, {});
      const before = editFigures(alone, proxies, {});
      const valueOf = (list: readonly Figure[], name: string, unit: Figure["unit"]) =>
        list.find((one) => one.name === name && one.unit === unit)!.values[0]!;
      const ratio = (name: string, unit: Figure["unit"], speed = 1) =>
        valueOf(figures, name, unit) / valueOf(before, name, unit) / speed;
      const faster = calibrationOf(watched) / calibrationOf(alone);
      return [{
        id: "pages/load",
        work: `${services} services, ${label(load)}: each sort of page for people is loaded`,
        istio: "has none",
        figures: pageFigures(loads),
        calibrations: [calibration],
      }, {
        id: "pages/watched",
        work: `${services} services, ${label(load)}: one route rule changes while ${VIEWERS} overviews are open`,
        istio: "has none",
        figures: [
          ...figures,
          figure("the time of the last proxy without viewers", "x", ratio("last proxy", "ms"), atMost(1.1)),
          figure("the CPU without viewers", "x", ratio("", "CPU s", faster)),
          figure("of events", "kB", viewers.bytes / 1e3),
        ],
        calibrations: [calibrationOf(watched)],
      }];
    });
  },
};

/** The slowest and the largest page, with their names. */
function pageFigures(loads: readonly PageLoad[]): Figure[] {
  const slowest = loads.toSorted((a, b) => b.ms - a.ms)[0]!;
  const longest = loads.toSorted((a, b) => b.bytes - a.bytes)[0]!;
  return [
    figure(`slowest page (${pageName(slowest)})`, "ms", slowest.ms, atMost(200)),
    figure(`longest page (${pageName(longest)})`, "kB", longest.bytes / 1e3, atMost(300)),
  ];
}

/** A page without the mesh's generated names, which differ from run to run. */
function pageName({ path }: PageLoad): string {
  const url = new URL(path, "http://x");
  const view = url.searchParams.get("view");
  return view === null ? url.pathname : `${url.pathname}?view=${view}`;
}
