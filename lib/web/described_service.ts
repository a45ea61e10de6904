/**
 * The parts of a description as HTML: ports, rules, routes and gateways of a service, policies, callers.
 *
 * @module
 */
import { writtenKey } from "../finding/origin.ts";
import type {
  DescribedCaller,
  DescribedGateway,
  DescribedPolicy,
  DescribedPort,
  DescribedRoute,
  DescribedRoutes,
  DescribedRule,
  DescribedService,
  DescribedSubset,
  DescribedTarget,
} from "../debug/description.ts";
import { answerText, gatewaysText, labelText, targetText } from "../debug/description_words.ts";
import { objectUrl } from "../debug/links.ts";
import type { Cell, CellPart, ListTable, StateWord } from "../debug/list_page.ts";
import type { DebugView } from "../debug/view.ts";
import { type Html, markup } from "./html.ts";
import { objectAt } from "./object.ts";
import { cellHtml, tableOf } from "./list_page.ts";

/** The most rows of a table. The JSON has all. */
const MAX_ROWS = 200;

/** The most routes or subsets of an object, and the most objects of a service. */
const MAX_PARTS = 50;

/** Gives an object in its author's spelling a link to its page, if the object is one of configuration. */
export type ObjectLinker = (object: string) => CellPart;

/** Links to the objects of a description. @param keys the keys of the objects */
export function objectLinker(keys: readonly string[], view: DebugView): ObjectLinker {
  const known = new Map(keys.flatMap((key) => {
    const object = objectAt(key, view);
    return object === undefined ? [] : [[writtenKey(object), key] as const];
  }));
  return (object) => {
    const key = known.get(object) ?? (objectAt(object, view) === undefined ? undefined : object);
    return key === undefined ? object : { text: object, link: objectUrl(key) };
  };
}

/** The first rows of a table, and a sentence with the number of the others. */
export function boundedTable<Row, Look>(
  described: ListTable<Row, Look>,
  rows: readonly Row[],
  look: Look,
  most = MAX_ROWS,
): Html {
  return markup`${tableOf(described, rows.slice(0, most), look)}${moreOf(rows, most, described.noun)}`;
}

function moreOf(rows: readonly unknown[], most: number, noun: string): Html | false {
  return rows.length > most && markup`<p class="dim">The first ${most} of ${rows.length}: ${noun}. The command below
gets all.</p>`;
}

const PORTS: ListTable<DescribedPort, void> = {
  noun: "ports",
  none: "The service has no port.",
  columns: [
    { title: "Port", cell: ({ port }) => port },
    { title: "Name", cell: ({ name }) => name || { dim: "none" } },
    { title: "Protocol", cell: ({ protocol }) => protocol },
    {
      title: "Port of workloads",
      cell: ({ targets }) =>
        targets.length === 0 ? { tone: "warn", word: "no workload is known behind it" } : targets.join(", "),
    },
  ],
};

const SUBSETS: ListTable<DescribedSubset, void> = {
  noun: "subsets",
  none: "No subset.",
  columns: [
    { title: "Subset", cell: ({ name }) => name },
    { title: "Labels", cell: ({ labels }) => labelText(labels) || { dim: "all" } },
    { title: "Endpoints", cell: ({ endpoints }) => endpoints > 0 ? endpoints : { tone: "warn", word: "none" } },
  ],
};

/** The subsets from the view of a pod. */
const SUBSETS_AT_POD: typeof SUBSETS = {
  ...SUBSETS,
  columns: [
    ...SUBSETS.columns,
    { title: "This pod", cell: ({ matches }) => membership(matches ?? false) },
  ],
};

function membership(matches: boolean): StateWord {
  return matches ? { tone: "good", word: "is in it" } : { tone: "dim", word: "is not in it" };
}

const ROUTES: ListTable<DescribedRoute, void> = {
  noun: "routes",
  none: "No route.",
  columns: [
    { title: "Route", cell: ({ protocol, name }) => `${protocol} ${name}` },
    { title: "When", cell: ({ when }) => when },
    {
      title: "Where to",
      cell: (route) =>
        route.answers !== undefined || route.to.length === 0 ? answerText(route) : route.to.flatMap(targetCell),
    },
  ],
};

function targetCell(target: DescribedTarget): CellPart[] {
  const { reachesPod } = target;
  if (reachesPod === undefined) return [targetText(target)];
  return [
    reachesPod
      ? { tone: "good", word: `${targetText(target)}, reaches this pod` }
      : { tone: "dim", word: `${targetText(target)}, not to this pod` },
  ];
}

const GATEWAYS: ListTable<DescribedGateway, ObjectLinker> = {
  noun: "gateways",
  none: "No Gateway.",
  columns: [
    { title: "Gateway", cell: ({ object }, link) => link(object) },
    { title: "Servers", cell: ({ servers }) => servers.slice(0, MAX_PARTS) },
  ],
};

/** The Gateways of a service or of a pod. */
export function gatewaysHtml(gateways: readonly DescribedGateway[], link: ObjectLinker): Html {
  return boundedTable(GATEWAYS, gateways, link, MAX_PARTS);
}

/** Everything that decides about the traffic of a service. */
export function trafficHtml({ ports, waypoint, rules, routes, gateways }: DescribedService, link: ObjectLinker): Html {
  return markup`${boundedTable(PORTS, ports, undefined)}${
    waypoint !== undefined &&
    markup`<p>Waypoint ${
      cellHtml([link(`ApiGateway/${waypoint.name}`), {
        tone: waypoint.way === "waypoint" ? "good" : "warn",
        word: waypoint.text,
      }])
    }</p>`
  }<h3>Destination rules</h3>${
    rules.length === 0
      ? none("No DestinationRule is about the service.")
      : rules.slice(0, MAX_PARTS).map((one) => ruleHtml(one, link))
  }${moreOf(rules, MAX_PARTS, "destination rules")}<h3>Routes</h3>${
    routes.length === 0
      ? none("No object routes requests of the service: requests go to its endpoints.")
      : routes.slice(0, MAX_PARTS).map((one) => routesHtml(one, link))
  }${moreOf(routes, MAX_PARTS, "objects with routes")}${
    gateways.length > 0 && markup`<h3>Gateways</h3>${gatewaysHtml(gateways, link)}`
  }`;
}

function none(sentence: string): Html {
  return markup`<p class="dim">${sentence}</p>`;
}

function ruleHtml({ object, inForce, subsets, policy }: DescribedRule, link: ObjectLinker): Html {
  // Merged rules have the names of all their objects.
  const objects = object.split(", ").map(link);
  const state: CellPart = inForce
    ? policy.length === 0 ? { dim: "no traffic policy" } : `traffic policy: ${policy.join(", ")}`
    : { tone: "warn", word: "not in force for clients of this namespace" };
  return markup`<p>${cellHtml([...objects, state])}</p>${
    subsets.length > 0 &&
    boundedTable(subsets[0]?.matches === undefined ? SUBSETS : SUBSETS_AT_POD, subsets, undefined, MAX_PARTS)
  }`;
}

function routesHtml({ object, hosts, gateways, inForce, routes }: DescribedRoutes, link: ObjectLinker): Html {
  const state: CellPart[] = inForce === false
    ? [{ tone: "warn", word: "not in force for sidecars: others have precedence" }]
    : [];
  const whose = `for ${hosts.slice(0, MAX_PARTS).join(", ")}${gatewaysText(gateways)}`;
  return markup`<p>${cellHtml([link(object), whose, ...state])}</p>${
    boundedTable(ROUTES, routes, undefined, MAX_PARTS)
  }`;
}

const POLICIES: ListTable<DescribedPolicy, ObjectLinker> = {
  noun: "policies",
  none: "No policy.",
  columns: [
    { title: "Object", cell: ({ object }, link) => link(object) },
    { title: "Level", cell: ({ level }) => level },
    { title: "What it does", cell: ({ text }) => text },
  ],
};

/** The policies at a workload or a service. */
export function policiesHtml(policies: readonly DescribedPolicy[], link: ObjectLinker): Html {
  return markup`<h2>Policies</h2>${boundedTable(POLICIES, policies, link)}`;
}

const TONES: Readonly<Record<DescribedCaller["result"], StateWord["tone"]>> = {
  allowed: "good",
  conditional: "warn",
  denied: "bad",
};

const CALLERS: ListTable<DescribedCaller, void> = {
  noun: "callers",
  none: "No caller is known.",
  columns: [
    { title: "Caller", cell: ({ caller }) => caller },
    { title: "May call", cell: ({ result }): Cell => ({ tone: TONES[result], word: result }) },
    { title: "Conditions", cell: ({ conditions }) => conditions.join(", ") },
  ],
};

/** What callers of a service may do. */
export function callersHtml(callers: readonly DescribedCaller[]): Html {
  return markup`<h2>Callers</h2>${boundedTable(CALLERS, callers, undefined)}`;
}
