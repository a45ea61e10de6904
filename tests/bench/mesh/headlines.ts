/**
 * The first figures of the page of benchmarks: ten works next to Istio's figures, with two plots.
 *
 * @module
 */
import type { Figure, Row, Unit } from "./result.ts";
import { spread } from "./result.ts";

/** A headline. */
export interface Headline {
  /** The work in a few words. */
  readonly label: string;
  /** {@linkcode Row.work} of the row with the figure. */
  readonly work: string;
  readonly unit: Unit;
  /** {@linkcode Figure.name}. Default: empty. */
  readonly figure?: string;
  /** Istio's figure in the same unit, measured as described on the page. Undefined: not measured. */
  readonly istio?: number;
}

const CONNECT = "400 proxies, delta, no gzip: all connect";
const ROUTE = "400 proxies, delta, no gzip: one route rule changes";
const ENDPOINT = "400 proxies, delta, no gzip: one endpoint changes, in a file of 100 services";

/** The headlines. Istio's figures are from the rows, in the unit of the neighbouring figure. */
export const HEADLINES: readonly Headline[] = [
  { label: "400 proxies connect: CPU", work: CONNECT, unit: "CPU s", istio: 54 },
  { label: "400 proxies connect: time", work: CONNECT, unit: "s", istio: 39 },
  { label: "400 proxies connect: memory", work: CONNECT, unit: "MiB", figure: "at peak", istio: 3490 },
  { label: "one route rule changes: CPU", work: ROUTE, unit: "CPU s", istio: 8 },
  { label: "one route rule changes: bytes", work: ROUTE, unit: "kB", figure: "on the wire", istio: 1_100_000 },
  { label: "one route rule changes: last proxy", work: ROUTE, unit: "ms", figure: "last proxy", istio: 10_000 },
  { label: "one endpoint changes: CPU", work: ENDPOINT, unit: "CPU s", istio: 1.3 },
  { label: "one endpoint changes: last proxy", work: ENDPOINT, unit: "ms", figure: "last proxy", istio: 1600 },
  {
    label: "5,000 services, 40 proxies connect: CPU",
    work: "5000 services, 40 proxies, delta, gzip: all connect",
    unit: "CPU s",
    istio: 55,
  },
  {
    label: "start with 20,000 objects: time",
    work: "start with 20000 objects, until the server is ready",
    unit: "s",
  },
];

/** A headline with its figure. */
export interface HeadlineFigure {
  readonly headline: Headline;
  readonly figure: Figure;
  readonly median: number;
}

/** The headlines with measured rows. */
export function headlineFigures(rows: readonly Row[]): HeadlineFigure[] {
  return HEADLINES.flatMap((headline) => {
    const row = rows.find(({ work }) => work === headline.work);
    const figure = row?.figures.find(({ name, unit }) => name === (headline.figure ?? "") && unit === headline.unit);
    return figure === undefined ? [] : [{ headline, figure, median: spread(figure.values).median }];
  });
}

/** The plots of the page. */
export function plots(rows: readonly Row[]): { readonly name: string; readonly svg: string }[] {
  const figures = headlineFigures(rows);
  const all = [
    { name: "cpu", svg: plot("CPU of the control plane", "CPU s", figures) },
    { name: "time", svg: plot("Time to the last proxy", "ms", figures) },
  ];
  return all.filter(({ svg }) => svg !== "");
}

/** A plot of the headlines of a unit: a pair of bars each, on a logarithmic scale. */
export function plot(title: string, unit: Unit, figures: readonly HeadlineFigure[]): string {
  const shown = figures.filter(({ headline }) => headline.unit === unit && headline.istio !== undefined);
  if (shown.length === 0) return "";
  const values = shown.flatMap(({ headline, median }) => [headline.istio!, median]);
  const low = 10 ** Math.floor(Math.log10(Math.min(...values)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...values)));
  const left = 260, wide = 420, step = 46, top = 44;
  const x = (value: number) => left + wide * Math.log10(value / low) / Math.log10(high / low);
  const text = (at: number, y: number, words: string, anchor = "start") =>
    `<text x="${at.toFixed(0)}" y="${y}" text-anchor="${anchor}">${words}</text>`;
  const bar = (y: number, value: number, color: string, words: string) =>
    `<rect x="${left}" y="${y}" width="${(x(value) - left).toFixed(0)}" height="14" fill="${color}"/>` +
    text(x(value) + 6, y + 12, words);
  const rows = shown.flatMap(({ headline: { label, istio }, median }, index) => {
    const y = top + index * step;
    return [
      text(left - 10, y + 20, label.replace(/: \w+( \w+)?$/, ""), "end"),
      bar(y, istio!, "#8a8f98", `Istio ${plain(istio!)} ${unit}`),
      bar(y + 16, median, "#1f6feb", `${plain(median)} ${unit}`),
    ];
  });
  const height = top + shown.length * step + 10;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 ${height}" font-family="sans-serif" font-size="13">`,
    `<rect width="860" height="${height}" fill="#ffffff"/>`,
    `<text x="12" y="24" font-size="16">${title}, ${unit}, logarithmic</text>`,
    ...rows,
    "</svg>",
  ];
  return `${lines.join("\n")}\n`;
}

/** A number with three significant digits. */
export function plain(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 4 });
}
